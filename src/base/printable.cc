#include "base/printable.h"

#include <cstdint>

namespace hyperloom {
namespace {

// The length in bytes of the well-formed UTF-8 character at `at`, 0 when there is none; sets its
// code point.
size_t utf8_length(std::string_view text, size_t at, uint32_t& code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || at + length > text.size()) return 0;
  code = length == 1 ? first : first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return too_long || surrogate || code > 0x10FFFF ? 0 : length;
}

bool shows_as_itself(uint32_t code) {
  if (code == '\n' || code == '\t') return true;
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;
  return !(code >= 0x202A && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069);
}

std::string kept_where(std::string_view text, bool (*keeps)(uint32_t code)) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    uint32_t code = 0;
    const size_t length = utf8_length(text, at, code);
    if (length > 0 && keeps(code)) {
      out += text.substr(at, length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    at += length > 0 ? length : 1;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return kept_where(text, shows_as_itself); }

std::string valid_utf8(std::string_view text) {
  return kept_where(text, [](uint32_t) { return true; });
}

std::string one_line(std::string_view text, size_t most) {
  std::string line = printable(text);
  size_t characters = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\n' || line[at] == '\t') line[at] = ' ';
    const bool starts = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80;
    if (starts && ++characters > most) {
      line.resize(at);
      break;
    }
  }
  return line;
}

}  // namespace hyperloom

#include "kernel/event_tail.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace hyperloom {
namespace {

constexpr size_t kLongestLine = 64 << 10;
constexpr uint64_t kReadAtOnce =
    8ull << 20;  // a flood is met in pieces, so that limits are looked at between

// Length of the valid UTF-8 sequence at `at`, or 0.
size_t sequence_length(const std::string& text, size_t at) {
  const auto byte = [&text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : (lead & 0xF0) == 0xE0        ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  const unsigned second = byte(at + 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F, beyond = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string printable(const std::string& text, size_t limit) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_length(text, at);
    const unsigned char lead = static_cast<unsigned char>(text[at]);
    const bool control =
        lead < 0x20 || lead == 0x7F ||
        (lead == 0xC2 && length == 2 && static_cast<unsigned char>(text[at + 1]) < 0xA0);
    const std::string piece = length == 0 || control
                                  ? std::string(1, lead == '\n' || lead == '\t' ? ' ' : '?')
                                  : text.substr(at, length);
    if (out.size() + piece.size() > limit) break;
    out += piece;
    at += length == 0 ? 1 : length;
  }
  return out;
}

bool EventTail::take(const std::string& line) {
  const Json event = Json::parse(line, nullptr, false);
  if (event.is_object() && event.contains("kind") && event["kind"].is_string()) {
    if (event.contains("message") && event["message"].is_string())
      last_message_ = printable(event["message"].get<std::string>(), 200);
    return true;
  }
  if (rubbish_++ == 0) first_rubbish_ = printable(line, 80);
  return false;
}

int EventTail::read() {
  if (!stream_.is_open()) {
    stream_.open(file_, std::ios::binary);
    if (!stream_) return 0;
  }
  stream_.clear();  // of the end that the last read met
  int events = 0;
  std::array<char, 64 << 10> buffer;
  for (uint64_t taken = 0; taken < kReadAtOnce;) {
    stream_.read(buffer.data(), buffer.size());
    const auto count = static_cast<size_t>(stream_.gcount());
    if (count == 0) break;
    taken += count;
    bytes_ += count;
    partial_.append(buffer.data(), count);
    size_t start = 0;
    for (size_t end; (end = partial_.find('\n', start)) != std::string::npos; start = end + 1)
      if (take(partial_.substr(start, end - start))) ++events;
    partial_.erase(0, start);
    if (partial_.size() > kLongestLine) {
      if (rubbish_++ == 0) first_rubbish_ = printable(partial_, 80);
      partial_.clear();
    }
  }
  return events;
}

}  // namespace hyperloom

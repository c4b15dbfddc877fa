// clean_log_lines of base/text.h: what a terminal would have shown of an engine's log, as plain
// lines.
#include "base/text.h"

namespace hyperloom {
namespace {

bool is_final(unsigned char c) { return c >= 0x40 && c <= 0x7E; }

// The index just past the escape sequence that starts at log[at] == ESC.
size_t past_escape(std::string_view log, size_t at) {
  size_t next = at + 1;
  if (next >= log.size()) return next;
  const char kind = log[next];
  if (kind == '[') {  // CSI: parameters, then one final byte; a line end means that it was cut off
    for (++next; next < log.size(); ++next) {
      const unsigned char c = static_cast<unsigned char>(log[next]);
      if (c < 0x20 || c > 0x7E) return next;
      if (is_final(c)) return next + 1;
    }
    return next;
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
    // A string (window title, hyperlink) up to BEL or ESC \ .
    for (++next; next < log.size(); ++next) {
      if (log[next] == '\a') return next + 1;
      if (log[next] == '\n' || log[next] == '\r') return next;
      if (log[next] == '\x1b')
        return next + 1 < log.size() && log[next + 1] == '\\' ? next + 2 : next;
    }
    return next;
  }
  while (next < log.size() && log[next] >= 0x20 && log[next] <= 0x2F) ++next;  // "ESC ( B" and kin
  return next < log.size() && log[next] >= 0x30 && log[next] <= 0x7E ? next + 1 : next;
}

}  // namespace

std::vector<std::string> clean_log_lines(std::string_view log, size_t max_line) {
  std::vector<std::string> lines;
  std::string line;
  size_t at = 0;
  while (at < log.size()) {
    const char c = log[at];
    if (c == '\x1b') {
      at = past_escape(log, at);
      continue;
    }
    ++at;
    if (c == '\n' || c == '\r') {
      if (c == '\r' && at < log.size() && log[at] == '\n') ++at;
      lines.push_back(std::move(line));
      line.clear();
    } else if ((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) || c == '\t') {
      if (line.size() < max_line) line += c;
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace hyperloom

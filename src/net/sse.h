// Server-sent events: bytes in any split, whole events out. CR, LF and CRLF end a line, also across reads.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hyperloom {

struct SseEvent { std::string event, data; };

class SseParser {
 public:
  explicit SseParser(std::function<void(const SseEvent&)> on_event) : on_event_(std::move(on_event)) {}
  void feed(std::string_view bytes);
  void finish();                         // a last event without its blank line counts (many servers omit it)
  bool overflowed() const { return overflowed_; }   // an event past 16 MiB: dropped

 private:
  void line(std::string_view text);
  void dispatch();
  std::function<void(const SseEvent&)> on_event_;
  std::string partial_;
  SseEvent current_;
  bool have_data_ = false, last_was_cr_ = false, overflowed_ = false;
  bool first_line_ = true;               // it may start with a byte order mark
  bool skipping_ = false;                // the rest of an event that was too long
};

}  // namespace hyperloom

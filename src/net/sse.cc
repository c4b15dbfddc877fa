#include "net/sse.h"

#include <algorithm>

namespace hyperloom {

namespace {
constexpr size_t kMaxEventBytes = size_t{16} << 20;

// Two searches of the C library beat one of find_first_of by a factor of ten.
size_t line_end(std::string_view bytes) {
  const size_t feed = bytes.find('\n');
  return std::min(feed, bytes.substr(0, feed).find('\r'));
}

}  // namespace

void SseParser::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (last_was_cr_ && bytes.front() == '\n') {   // second half of a CRLF, perhaps cut between two reads
      last_was_cr_ = false;
      bytes.remove_prefix(1);
      continue;
    }
    last_was_cr_ = false;
    const size_t end = line_end(bytes);
    const std::string_view head = bytes.substr(0, end);
    if (!skipping_ && partial_.size() + head.size() + current_.data.size() > kMaxEventBytes) {
      overflowed_ = skipping_ = true;
      current_ = {};
      have_data_ = false;
      partial_ = ":";   // what is left of this line reads as a comment, not as a line of its own
    }
    if (end == std::string_view::npos) {
      if (!skipping_) partial_ += head;
      else if (!head.empty()) partial_ = ":";
      return;
    }
    if (partial_.empty()) {
      line(head);
    } else {
      if (!skipping_) partial_ += head;
      line(partial_);
      partial_.clear();
    }
    last_was_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
  }
}

void SseParser::finish() {
  if (!partial_.empty()) line(partial_);
  partial_.clear();
  dispatch();
}

void SseParser::line(std::string_view text) {
  if (first_line_) {
    first_line_ = false;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      text.remove_prefix(kByteOrderMark.size());
    }
  }
  if (text.empty()) return dispatch();
  if (skipping_) return;
  const size_t colon = text.find(':');
  const std::string_view field = text.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "event") {
    current_.event = value;
  } else if (field == "data" || field == "error") {
    // llama.cpp up to 2025 sent failures as a field of its own: `error: {...}`.
    if (field == "error") current_.event = "error";
    if (have_data_) current_.data += '\n';
    current_.data += value;
    have_data_ = true;
  }
}

void SseParser::dispatch() {
  SseEvent event;
  std::swap(event, current_);
  const bool complete = have_data_ && !skipping_ && !event.data.empty();
  have_data_ = skipping_ = false;
  if (complete) on_event_(event);
}

}  // namespace hyperloom

#include "workload/line_reader.h"

#include <cstring>

#include "base/text.h"

namespace hyperloom {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;
constexpr std::string_view kMark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t from = text.find_first_not_of(kBlanks);
  return from == std::string_view::npos ? std::string_view() : text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

}  // namespace

std::string LineReader::where() const { return name_ + ":" + std::to_string(number_) + " (byte " + std::to_string(offset_) + ")"; }

// One line into line_, without its end; false when nothing was left.
bool LineReader::read_line() {
  line_.clear();
  offset_ = next_offset_;
  ++number_;
  while (true) {
    if (at_ == buffer_.size()) {
      buffer_.resize(kBufferBytes);
      in_.read(buffer_.data(), static_cast<std::streamsize>(kBufferBytes));
      buffer_.resize(static_cast<size_t>(in_.gcount()));
      at_ = 0;
      if (in_.bad()) throw error("cannot be read on", "check the disk");
      if (buffer_.empty()) {
        cut_ = next_offset_ > offset_;
        return cut_;
      }
    }
    const char* from = buffer_.data() + at_;
    const auto* end = static_cast<const char*>(std::memchr(from, '\n', buffer_.size() - at_));
    const size_t bytes = end ? static_cast<size_t>(end - from) : buffer_.size() - at_;
    if (line_.size() + bytes > longest_)
      throw error("this line is longer than " + format_bytes(static_cast<double>(longest_)), "is it a text file of one entry a line?");
    line_.append(from, bytes);
    at_ += bytes + (end ? 1 : 0);
    next_offset_ += bytes + (end ? 1 : 0);
    if (end) return true;
  }
}

bool LineReader::next(std::string_view& line) {
  while (read_line()) {
    line = line_;
    if (number_ == 1 && line.substr(0, kMark.size()) == kMark) line.remove_prefix(kMark.size());
    if (line.find('\0') != std::string_view::npos)
      throw error("holds a NUL byte, so it is no UTF-8 text", "unpack it, or convert it: iconv -f UTF-16 -t UTF-8");
    line = trimmed(line);
    if (!line.empty()) return true;
  }
  return false;
}

}  // namespace hyperloom

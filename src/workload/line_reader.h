// A user's text file line by line, whatever its size: one line in memory at a time, and each knows where it stands.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hyperloom {

class LineReader {
 public:
  static constexpr size_t kLongest = size_t{8} << 20;

  // `name` of the file, for messages. Error(BadInput) from next() for a line beyond `longest` bytes, a NUL byte (UTF-16, a
  // binary or compressed file) or a read error.
  LineReader(std::istream& in, std::string name, size_t longest = kLongest) : in_(in), name_(std::move(name)), longest_(longest) {}

  // The next line that is not blank, without blanks around it, line end and byte order mark; false at the end. `line` is valid
  // until the next call.
  bool next(std::string_view& line);
  // The last line had no line end: the file may have been cut there.
  bool cut() const { return cut_; }
  size_t number() const { return number_; }     // of the line, from 1
  std::string where() const;                    // "FILE:7 (byte 120)"
  Error error(const std::string& what, const std::string& mend) const { return bad_input(where() + ": " + what, mend); }
  size_t held_bytes() const { return buffer_.capacity() + line_.capacity(); }

 private:
  bool read_line();

  std::istream& in_;
  std::string name_, line_, buffer_;
  size_t longest_;
  size_t at_ = 0;                               // in the buffer
  size_t number_ = 0, offset_ = 0, next_offset_ = 0;
  bool cut_ = false;
};

}  // namespace hyperloom

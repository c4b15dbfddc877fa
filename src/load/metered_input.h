// A stream read through one buffer that knows how far it is and what the reader behind it may hold: nothing of the input is kept
// between two marks but what came since the first.
#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <streambuf>

namespace hyperloom {

class MeteredInput : public std::streambuf {
 public:
  // Ends the input early once more than `longest` bytes came since the last mark.
  MeteredInput(std::istream& in, size_t longest) : in_(in), longest_(longest) {}

  void mark();                                   // what came before is done with
  size_t at() const { return begun_ + static_cast<size_t>(gptr() - eback()); }   // bytes given out
  size_t marked_at() const { return marked_at_; }
  bool at_end() const { return at_end_; }        // somebody asked for more than there is
  bool too_long() const { return too_long_; }
  size_t longest_seen() const { return longest_seen_; }   // bytes between two marks, at most

 protected:
  int_type underflow() override;

 private:
  std::istream& in_;
  size_t longest_, begun_ = 0, marked_at_ = 0, longest_seen_ = 0;
  bool at_end_ = false, too_long_ = false;
  std::array<char, size_t{64} << 10> buffer_;
};

}  // namespace hyperloom

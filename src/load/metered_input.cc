#include "load/metered_input.h"

#include <algorithm>

namespace hyperloom {

void MeteredInput::mark() {
  longest_seen_ = std::max(longest_seen_, at() - marked_at_);
  marked_at_ = at();
}

MeteredInput::int_type MeteredInput::underflow() {
  begun_ = at();
  setg(buffer_.data(), buffer_.data(), buffer_.data());
  too_long_ = begun_ - marked_at_ > longest_;
  if (!too_long_) in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  const std::streamsize got = too_long_ ? 0 : in_.gcount();
  at_end_ = got == 0 && !too_long_;
  if (got == 0) return traits_type::eof();
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(buffer_[0]);
}

}  // namespace hyperloom

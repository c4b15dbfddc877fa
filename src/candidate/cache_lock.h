// One maker at a time for a thing in the cache, also across processes.
#pragma once

#include <filesystem>

#include "base/descriptor.h"

namespace hyperloom {

// Holds an exclusive flock on `file` (made when missing) for its lifetime; the kernel frees it when we die. Waits for
// another holder; `stop_flag` ends the wait. Error(Internal) when the file cannot be made.
class CacheLock {
 public:
  explicit CacheLock(const std::filesystem::path& file, const volatile bool* stop_flag = nullptr);
  bool held() const { return held_; }

 private:
  Descriptor descriptor_;
  bool held_ = false;
};

// Removes `<target>.partial.*`: what makers of `target` that died left behind. Only under the held lock of `target`,
// which proves that nobody makes it now (a pid in a name proves nothing: reused, or another container's).
void remove_left_over(const std::filesystem::path& target);

}  // namespace hyperloom

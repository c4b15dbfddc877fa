#include "candidate/cache_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/files.h"

namespace hyperloom {

CacheLock::CacheLock(const std::filesystem::path& file, const volatile bool* stop_flag) {
  make_folders(file.parent_path());
  descriptor_ = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (descriptor_.get() < 0) {
    throw internal_error(file.string() + ": cannot make the lock: " + std::strerror(errno),
                         "check the rights of the cache folder, or set HYPERLOOM_CACHE to another one");
  }
  while (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw internal_error(file.string() + ": cannot be locked: " + std::strerror(errno),
                           "a network file system without locks? set HYPERLOOM_CACHE to a local folder");
    }
    if (stop_flag != nullptr && *stop_flag) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  held_ = true;
}

}  // namespace hyperloom

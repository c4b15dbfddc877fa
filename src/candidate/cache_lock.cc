#include "candidate/cache_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace hyperloom {

CacheLock::CacheLock(const std::filesystem::path& file, const volatile bool* stop_flag) {
  std::error_code ignored;   // open says it better
  fs::create_directories(file.parent_path(), ignored);
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

void remove_left_over(const std::filesystem::path& target) {
  const std::string prefix = target.filename().string() + ".partial.";
  std::vector<fs::path> left;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(target.parent_path(), problem)) {
    if (starts_with(entry.path().filename().string(), prefix)) left.push_back(entry.path());
  }
  for (const fs::path& path : left) fs::remove_all(path, problem);
}

}  // namespace hyperloom

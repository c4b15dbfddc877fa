#include "os/spawner.h"

#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace hyperloom {
namespace {

class Spawner {
 public:
  Spawner() : owner_(::getpid()) {
    sigset_t all, before;  // the program's signal handlers belong to its own threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { loop(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  pid_t owner() const { return owner_; }

  void run(std::function<void()> job) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !job_; });
    bool done = false;
    job_ = [&] { job(), done = true; };
    changed_.notify_all();
    changed_.wait(lock, [&] { return done; });
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return static_cast<bool>(job_); });
      job_();
      job_ = nullptr;
      changed_.notify_all();
    }
  }

  const pid_t owner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;  // one at a time
};

}  // namespace

void run_on_spawner_thread(std::function<void()> job) {
  static std::mutex mutex;
  static Spawner* spawner = nullptr;  // never destroyed: its thread must outlive every static
  Spawner* here = nullptr;
  {
    const std::lock_guard lock(mutex);
    // A forked copy of this process has the object without its thread.
    if (!spawner || spawner->owner() != ::getpid()) spawner = new Spawner;
    here = spawner;
  }
  here->run(std::move(job));
}

}  // namespace hyperloom

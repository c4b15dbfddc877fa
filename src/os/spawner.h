// The thread that forks. PDEATHSIG, which makes children die with us, fires when the *thread* that
// forked ends, not the process; so all children are forked by one thread that lives as long as the
// process. This is the program's only hidden global, for that reason alone.
#pragma once

#include <functional>
#include <future>

namespace hyperloom {

void run_on_spawner_thread(std::function<void()> job);  // returns when it ran; `job` must not throw

template <typename Result, typename Job>
Result on_spawner_thread(Job job) {
  std::promise<Result> promise;
  run_on_spawner_thread([&] {
    try {
      promise.set_value(job());
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  return promise.get_future().get();
}

}  // namespace hyperloom

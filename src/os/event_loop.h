// One thread's epoll loop: watched descriptors and timers. Kept small; curl, pidfds and signals plug into it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

namespace hyperloom {

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;

  using OnReady = std::function<void(uint32_t epoll_events)>;
  void watch(int fd, uint32_t epoll_events, OnReady on_ready);   // again = change
  void unwatch(int fd);

  using TimerId = uint64_t;
  TimerId after(double seconds, std::function<void()> action);
  void cancel(TimerId timer);

  void run();                       // until stop(), or until nothing is watched and no timer is set
  void stop() { stopped_ = true; }
  static double now_s();            // CLOCK_MONOTONIC
  double worst_delay_s() const { return worst_delay_s_; }   // how late timers fired: our own lateness
  // Nothing that is being handled now can have been ready before this moment: the last time that nothing was left waiting.
  double ready_since_s() const { return ready_since_s_; }

 private:
  void step();
  int epoll_fd_;
  bool stopped_ = false;
  double worst_delay_s_ = 0;
  TimerId next_timer_ = 1;
  uint32_t next_serial_ = 0;
  struct Watched {
    OnReady on_ready;
    uint32_t serial;                // tells a descriptor number that was used again apart
  };
  std::map<int, Watched> watched_;
  using Timers = std::multimap<double, std::pair<TimerId, std::function<void()>>>;
  Timers timers_;
  std::unordered_map<TimerId, Timers::iterator> timer_places_;
  double ready_since_s_ = 0, asked_s_ = 0;
  bool more_were_ready_ = false;    // than one round takes
};

}  // namespace hyperloom

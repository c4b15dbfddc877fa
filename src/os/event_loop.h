// One thread's epoll loop: watched descriptors and timers. Kept small; curl, pidfds and signals plug into it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

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
  std::multimap<double, std::pair<TimerId, std::function<void()>>> timers_;
};

}  // namespace hyperloom

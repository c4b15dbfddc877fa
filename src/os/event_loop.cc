#include "os/event_loop.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace hyperloom {
namespace {

constexpr int kEventsARound = 256;
constexpr double kSlept_s = 30e-6;   // a poll that finds something ready takes a few microseconds

Error loop_error(const std::string& what) {
  return internal_error(what + ": " + std::strerror(errno));
}

// Waits at most `seconds` (< 0 = for ever). To the nanosecond where the kernel can (5.11), else to
// the next millisecond: the load generator's send times hang on it.
int wait_for_events(int epoll_fd, epoll_event* events, int count, double seconds) {
#ifdef SYS_epoll_pwait2
  static bool precise = true;
  if (precise) {
    timespec time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    const long ready = ::syscall(SYS_epoll_pwait2, epoll_fd, events, count,
                                 seconds < 0 ? nullptr : &time, nullptr, 0);
    if (ready >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(ready);
    precise = false;
  }
#endif
  return ::epoll_wait(epoll_fd, events, count,
                      seconds < 0 ? -1 : static_cast<int>(std::ceil(seconds * 1000)));
}

}  // namespace

EventLoop::EventLoop() : epoll_fd_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_fd_ < 0) throw loop_error("cannot make an epoll descriptor");
}

EventLoop::~EventLoop() { ::close(epoll_fd_); }

double EventLoop::now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void EventLoop::watch(int fd, uint32_t epoll_events, OnReady on_ready) {
  const auto found = watched_.find(fd);
  const uint32_t serial = found == watched_.end() ? next_serial_++ : found->second.serial;
  epoll_event event{};
  event.events = epoll_events;
  event.data.u64 = (static_cast<uint64_t>(serial) << 32) | static_cast<uint32_t>(fd);
  int result =
      ::epoll_ctl(epoll_fd_, found == watched_.end() ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
  // Closed and opened again under the same number without unwatch(): the kernel has forgotten it.
  if (result != 0 && errno == ENOENT) result = ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  if (result != 0) throw loop_error("cannot watch descriptor " + std::to_string(fd));
  watched_[fd] = {std::move(on_ready), serial};
}

void EventLoop::unwatch(int fd) {
  if (watched_.erase(fd) > 0)
    ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);  // fails when it is closed: fine
}

EventLoop::TimerId EventLoop::after(double seconds, std::function<void()> action) {
  const TimerId id = next_timer_++;
  timer_places_[id] = timers_.emplace(now_s() + std::max(0.0, seconds), std::make_pair(id, std::move(action)));
  return id;
}

void EventLoop::cancel(TimerId timer) {
  const auto found = timer_places_.find(timer);
  if (found == timer_places_.end()) return;
  timers_.erase(found->second);
  timer_places_.erase(found);
}

void EventLoop::run() {
  while (!stopped_ && !(watched_.empty() && timers_.empty())) step();
  stopped_ = false;
}

void EventLoop::step() {
  const double asked_s = now_s();
  const double wait_s = timers_.empty() ? -1 : std::max(0.0, timers_.begin()->first - asked_s);
  epoll_event events[kEventsARound];
  const int ready = wait_for_events(epoll_fd_, events, kEventsARound, wait_s);
  if (ready < 0 && errno != EINTR) throw loop_error("cannot wait for events");
  // Whoever slept had nothing left waiting. Else what comes now became ready after the round before had asked, unless
  // that one could not take all.
  if (const double woke_s = now_s(); woke_s - asked_s > kSlept_s) ready_since_s_ = woke_s;
  else if (!more_were_ready_) ready_since_s_ = asked_s_;
  asked_s_ = asked_s;
  more_were_ready_ = ready == kEventsARound;
  for (int i = 0; i < ready && !stopped_; ++i) {
    const int fd = static_cast<int>(events[i].data.u64 & 0xffffffff);
    const auto found = watched_.find(fd);
    // An earlier callback of this round may have unwatched it, and even watch another under its
    // number.
    if (found == watched_.end() || found->second.serial != events[i].data.u64 >> 32) continue;
    const OnReady on_ready = found->second.on_ready;  // a copy: it may unwatch itself while it runs
    on_ready(events[i].events);
  }
  // Only timers due now: an action that sets a timer of zero seconds must not starve the
  // descriptors.
  const double now = now_s();
  const TimerId newest = next_timer_;
  for (auto at = timers_.begin(); !stopped_ && at != timers_.end() && at->first <= now;) {
    if (at->second.first >= newest) {
      ++at;
      continue;
    }
    worst_delay_s_ = std::max(worst_delay_s_, now_s() - at->first);
    const auto action = std::move(at->second.second);
    timer_places_.erase(at->second.first);
    timers_.erase(at);
    action();
    at = timers_.begin();  // the action may have cancelled any
  }
}

}  // namespace hyperloom

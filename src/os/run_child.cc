// run_child of os/child.h: a short command whose output we want.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "os/child.h"
#include "base/descriptor.h"

namespace hyperloom {
namespace {

constexpr size_t kHalfCap = size_t{2} << 20;
constexpr double kLookS = 0.1;  // how often the stop flag is looked at

// Keeps the head and the tail of what flows through it.
class CappedText {
 public:
  void add(const char* bytes, size_t count) {
    const size_t to_head = std::min(count, kHalfCap - head_.size());
    head_.append(bytes, to_head);
    tail_.append(bytes + to_head, count - to_head);
    if (tail_.size() <= 2 * kHalfCap) return;
    dropped_ += tail_.size() - kHalfCap;
    tail_.erase(0, tail_.size() - kHalfCap);
  }
  std::string text() {
    if (tail_.size() > kHalfCap) {
      dropped_ += tail_.size() - kHalfCap;
      tail_.erase(0, tail_.size() - kHalfCap);
    }
    if (dropped_ == 0) return head_ + tail_;
    return head_ + "\n[" + std::to_string(dropped_) + " bytes left out]\n" + tail_;
  }

 private:
  std::string head_, tail_;
  size_t dropped_ = 0;
};

}  // namespace

RunResult run_child(ChildSpec spec, double limit_s, const volatile bool* stop_flag) {
  Descriptor copy;  // what goes to the caller's file too
  if (!spec.output.empty()) {
    copy = Descriptor(::open(spec.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!copy)
      throw internal_error("cannot write " + spec.output.string() + ": " + std::strerror(errno));
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw internal_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  Descriptor reader(ends[0]), writer(ends[1]);
  ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  spec.output_fd = writer.get();

  const SystemClock clock;
  const double start = clock.mono_s();
  RunResult result;
  CappedText output;
  const auto child = Child::spawn(spec);
  writer.reset();
  const auto drain = [&] {  // false once nobody holds the other end
    char buffer[65536];
    while (true) {
      const ssize_t count = ::read(reader.get(), buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return count < 0;
      output.add(buffer, static_cast<size_t>(count));
      if (copy) (void)!::write(copy.get(), buffer, static_cast<size_t>(count));
      if (clock.mono_s() - start > limit_s) return true;  // a flood must not outrun the limit
    }
  };
  bool open = true;
  while (!child->poll()) {
    const double left = limit_s - (clock.mono_s() - start);
    if (left <= 0 || (stop_flag && *stop_flag)) {
      result.timed_out = true;
      break;
    }
    pollfd waiting[] = {{child->pidfd(), POLLIN, 0}, {open ? reader.get() : -1, POLLIN, 0}};
    ::poll(waiting, 2, static_cast<int>(std::ceil(std::min(left, kLookS) * 1000)));
    if (open) open = drain();
  }
  result.seconds = clock.mono_s() - start;
  result.status = child->stop(result.timed_out ? 1 : 0).status;  // and whoever it left behind
  if (open) drain();
  result.output = output.text();
  return result;
}

}  // namespace hyperloom

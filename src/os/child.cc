#include "os/child.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "os/cgroup.h"
#include "os/family.h"
#include "os/spawn.h"

namespace hyperloom {
namespace {

constexpr double kKillLimitS =
    10;  // a process in uninterruptible sleep may take longer; then we say so
constexpr double kStragglerLimitS = 3;  // for those that outlive the root after the signal

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

std::string ExitStatus::text() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  const char* name = ::sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

struct Child::Impl {
  ProcessHandle handle;
  Descriptor pidfd;
  std::optional<ExitStatus> status;
  std::optional<Stopped> stopped;

  // WNOWAIT leaves the zombie: while we hold it, its pid, group and session are nobody else's.
  std::optional<ExitStatus> look() {
    if (status) return status;
    siginfo_t info{};
    rusage usage{};
    const long result =
        ::syscall(SYS_waitid, P_PID, handle.pid, &info, WEXITED | WNOHANG | WNOWAIT, &usage);
    if (result == 0 && info.si_pid == 0) return {};
    ExitStatus seen;
    if (result != 0) {
      seen.code = -1;  // somebody else in our process reaped it: it has ended, how is lost
    } else if (info.si_code == CLD_EXITED) {
      seen.code = info.si_status;
    } else {
      seen.signal = info.si_status;
    }
    seen.cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    seen.peak_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    status = seen;
    return status;
  }

  void signal_stragglers(int signal) {
    for (const ProcStat& member : living_family(handle, Claim::Held)) {
      send_signal(member.pid, member.start_ticks, signal);
    }
  }
};

Child::Child() : impl_(std::make_unique<Impl>()) {}

std::unique_ptr<Child> Child::spawn(const ChildSpec& spec) {
  std::unique_ptr<Child> child(new Child);
  child->impl_->stopped = Stopped{};  // nothing to stop should the next line throw
  Spawned spawned = spawn_process(spec);
  child->impl_->handle = std::move(spawned.handle);
  child->impl_->pidfd = std::move(spawned.pidfd);
  child->impl_->stopped.reset();
  return child;
}

Child::~Child() {
  try {
    stop(0, SIGKILL);
  } catch (const std::exception&) {
    // Out of memory or descriptors while looking for stragglers; the root dies with us at the
    // latest.
  }
}

const ProcessHandle& Child::handle() const { return impl_->handle; }
int Child::pidfd() const { return impl_->pidfd.get(); }
std::optional<ExitStatus> Child::poll() { return impl_->look(); }

std::optional<ExitStatus> Child::wait(double seconds) {
  const SystemClock clock;
  const double deadline = clock.mono_s() + seconds;
  while (true) {
    if (auto status = impl_->look()) return status;
    const double left = deadline - clock.mono_s();
    if (!(left > 0)) return {};
    pollfd ended{impl_->pidfd.get(), POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(std::ceil(std::min(left, 3600.0) * 1000)));
  }
}

Child::Stopped Child::stop(double grace_s, int signal) {
  Impl& me = *impl_;
  if (me.stopped) return *me.stopped;
  const SystemClock clock;
  const double deadline = clock.mono_s() + grace_s;
  Stopped result;
  if (!me.look()) {
    ::kill(-me.handle.pid, signal);
    wait(grace_s);
  }
  if (me.look() && signal != SIGKILL) {
    const auto stragglers = living_family(me.handle, Claim::Held);
    if (!stragglers.empty()) {  // they may have left the group, and never have heard the signal
      me.signal_stragglers(signal);
      wait_until_ended(stragglers, std::clamp(deadline - clock.mono_s(), 0.0, kStragglerLimitS));
    }
  }
  const Killed killed = kill_family(me.handle, Claim::Held, kKillLimitS);
  result.forced = killed.killed;
  result.children_gone = killed.all_gone;
  if (auto status = wait(killed.all_gone ? 1 : 0)) {
    result.status = *status;
    reap_root(me.handle.pid);
  } else {
    result.status.signal = SIGKILL;  // sent, and not yet obeyed: stuck in the kernel
    result.children_gone = false;
  }
  reap_orphans();
  if (!me.handle.cgroup.empty()) {
    // The kernel lets the last member go a moment after it became a zombie.
    for (int attempt = 0; attempt < 50 && !remove_cgroup(me.handle.cgroup); ++attempt)
      ::usleep(2000);
  }
  me.stopped = result;
  return result;
}

std::vector<pid_t> Child::family() const {
  std::vector<pid_t> pids;
  if (impl_->stopped && impl_->stopped->children_gone) return pids;
  for (const ProcStat& member : living_family(impl_->handle, Claim::Held))
    pids.push_back(member.pid);
  return pids;
}

}  // namespace hyperloom

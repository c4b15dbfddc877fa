#include "os/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "os/cgroup.h"
#include "os/exec.h"
#include "os/procfs.h"
#include "os/spawner.h"

namespace hyperloom {
namespace {

std::mutex roots_mutex;
std::set<pid_t> roots;  // spawned and not yet reaped; GUARDED_BY(roots_mutex)

Error system_error(const std::string& what) {
  return internal_error(what + ": " + std::strerror(errno));
}

// Above 2, so that the child's own 0, 1 and 2 cannot overwrite it.
Descriptor above_standard(Descriptor fd, const std::string& what) {
  if (!fd) throw system_error(what);
  Descriptor high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!high) throw system_error(what);
  return high;
}

struct Pipe {
  Descriptor read_end, write_end;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe");
    Descriptor first(ends[0]), second(ends[1]);
    read_end = above_standard(std::move(first), "cannot make a pipe");
    write_end = above_standard(std::move(second), "cannot make a pipe");
  }
};

Descriptor open_output(const ChildSpec& spec) {
  if (spec.output_fd >= 0) {
    return above_standard(Descriptor(::fcntl(spec.output_fd, F_DUPFD_CLOEXEC, 3)), "output_fd");
  }
  const std::string file = spec.output.empty() ? "/dev/null" : spec.output.string();
  return above_standard(
      Descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
      "cannot write the output of " + spec.argv[0] + " to " + file);
}

void become_subreaper() {
  // Orphans of our children come to us instead of to init, so that none escapes by forking twice.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Where SIGCHLD is ignored the kernel reaps children itself, and pids would be free before we
  // look.
  struct sigaction action{};
  if (::sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &action, nullptr);
  }
}

std::string new_cgroup(uint64_t child_start) {
  static std::atomic<unsigned> serial{0};
  return make_cgroup(std::to_string(::getpid()) + "-" + std::to_string(child_start) + "-" +
                     std::to_string(serial.fetch_add(1)));
}

// Runs on the spawner thread.
Spawned fork_and_exec(const ChildSpec& spec, const ExecPlan& plan) {
  become_subreaper();
  Pipe go, report;
  const Descriptor input =
      above_standard(Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)), "/dev/null");
  const Descriptor output = open_output(spec);
  ExecPlan here = plan;
  here.input = input.get(), here.output = output.get();
  here.go = go.read_end.get(), here.report = report.write_end.get();
  here.parent = ::getpid();

  const pid_t pid = ::fork();
  if (pid < 0) throw system_error("cannot start " + spec.argv[0]);
  if (pid == 0) exec_in_child(here);
  {
    const std::lock_guard lock(roots_mutex);
    roots.insert(pid);
  }
  go.read_end.reset();
  report.write_end.reset();

  Spawned spawned;
  spawned.handle.pid = pid;
  spawned.handle.boot_id = SystemClock().boot_id();
  spawned.pidfd = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int pidfd_error = errno;
  const auto stat = read_stat(pid);
  const auto abandon = [&] {
    go.write_end.reset();  // the child reads the end of the pipe and leaves
    ::kill(pid, SIGKILL);
    reap_root(pid);
    if (!spawned.handle.cgroup.empty()) remove_cgroup(spawned.handle.cgroup);
  };
  if (!spawned.pidfd || !stat) {
    abandon();
    throw internal_error(
        "cannot hold " + spec.argv[0] + " by a pidfd: " + std::strerror(pidfd_error),
        "hyperloom needs Linux 5.4 or newer and a readable /proc");
  }
  spawned.handle.start_ticks = stat->start_ticks;
  spawned.handle.cgroup = new_cgroup(stat->start_ticks);
  if (!spawned.handle.cgroup.empty() && !move_into_cgroup(spawned.handle.cgroup, pid)) {
    remove_cgroup(spawned.handle.cgroup);
    spawned.handle.cgroup.clear();
  }

  ExecGo start{};
  std::strncpy(start.mark, family_mark(spawned.handle).c_str(), sizeof start.mark - 1);
  (void)!::write(go.write_end.get(), &start, sizeof start);
  ExecFailure failure{};
  ssize_t count = 0;
  while ((count = ::read(report.read_end.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (count != 0) {  // the pipe closes without a word when exec succeeds
    abandon();
    throw explain(failure, spec);
  }
  return spawned;
}

}  // namespace

std::string family_mark(const ProcessHandle& handle) {
  return std::to_string(handle.pid) + "." + std::to_string(handle.start_ticks);
}

Spawned spawn_process(const ChildSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) {
    throw bad_input("an empty command cannot be started", "give the program's name first");
  }
  const ExecWords words(spec, kFamilyVariable);
  return on_spawner_thread<Spawned>([&] { return fork_and_exec(spec, words.plan()); });
}

void reap_root(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  const std::lock_guard lock(roots_mutex);
  roots.erase(pid);
}

void reap_orphans() {
  const pid_t self = ::getpid(), session = ::getsid(0);
  const std::vector<ProcStat> all = all_processes();
  const std::lock_guard lock(roots_mutex);
  for (const ProcStat& stat : all) {
    if (stat.parent != self || !stat.ended() || stat.session == session || roots.count(stat.pid))
      continue;
    ::waitpid(stat.pid, nullptr, WNOHANG);
  }
}

}  // namespace hyperloom

// Child processes, held by handle (pidfd, process group, cgroup where allowed), never by name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hyperloom {

struct ChildSpec {
  std::vector<std::string> argv;                   // argv[0] is looked up on PATH when it has no slash
  std::map<std::string, std::string> env;          // added to clean_environment()
  std::filesystem::path cwd;                       // empty = ours
  std::filesystem::path output;                    // stdout and stderr, appended; empty = /dev/null
  uint64_t memory_limit_bytes = 0;                 // RLIMIT_AS; 0 = none
  int output_fd = -1;                              // instead of `output`: a descriptor of ours; not closed
};

struct ExitStatus {
  int code = 0;               // exit code when !signal
  int signal = 0;             // the signal that ended it, or 0
  double cpu_s = 0;           // user + system
  uint64_t peak_rss_bytes = 0;
  bool ok() const { return signal == 0 && code == 0; }
  std::string text() const;   // "exit code 1", "SIGILL"
};

// What a later process needs to find exactly this child again after our death.
struct ProcessHandle {
  pid_t pid = 0;
  uint64_t start_ticks = 0;   // field 22 of /proc/PID/stat: tells a reused pid apart
  std::string boot_id;
  std::string cgroup;         // path, or empty when cgroups may not be made
};

// Our environment less everything that names a key, token, secret or password, and less the variables
// that slow Python engines' boot (PYTHONDONTWRITEBYTECODE).
std::map<std::string, std::string> clean_environment();

// Owner: whoever spawned it; one thread uses it at a time. Destruction kills the whole family and waits.
// The family: the child, its session and process group, its cgroup, its descendants, and every process that
// carries its HYPERLOOM_FAMILY variable, whatever it did to get away. The child is only reaped by stop() or
// the destructor, so its pid, group and session cannot come to mean somebody else while we hold it. It dies
// with us (PDEATHSIG), however we die; what it started may outlive us: see kill_left_over.
class Child {
 public:
  static std::unique_ptr<Child> spawn(const ChildSpec& spec);   // Error(BadInput) names argv[0] when exec fails
  ~Child();
  Child(const Child&) = delete;

  const ProcessHandle& handle() const;
  int pidfd() const;                                  // readable once it has ended
  std::optional<ExitStatus> poll();                   // without waiting
  std::optional<ExitStatus> wait(double seconds);     // nothing when it still runs
  // SIGTERM to the group, `grace_s`, then SIGKILL to all the family until nobody is left (10 s at most); reaps.
  // `forced` = somebody needed the KILL; `children_gone` = nobody is left. Again: the same answer.
  struct Stopped { ExitStatus status; bool forced = false; bool children_gone = true; };
  Stopped stop(double grace_s, int signal = 15);
  // Pids of the group and its descendants now alive.
  std::vector<pid_t> family() const;

 private:
  Child();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Kills what an earlier, dead process of ours left behind: only if pid, start time and boot agree. Returns
// whether something was killed.
bool kill_left_over(const ProcessHandle& handle);

struct RunResult {
  ExitStatus status;
  bool timed_out = false;
  std::string output;         // stdout and stderr, capped at 4 MiB (head and tail kept)
  double seconds = 0;
};
// Runs to the end, or kills at the limit. `stop_flag`, when given and set, ends it early as timed_out.
RunResult run_child(ChildSpec spec, double limit_s, const volatile bool* stop_flag = nullptr);

// The pid (in our /proc) that listens on a TCP port of loopback or any address; nothing when free or hidden.
struct Listener { bool listening = false; pid_t pid = 0; };
Listener port_listener(int port);
int free_port();              // a free TCP port on 127.0.0.1

}  // namespace hyperloom

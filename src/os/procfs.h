// What /proc says of processes. Everything here may be stale the moment it is read: who signals a
// process goes through a pidfd that was checked against the start time (send_signal).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace hyperloom {

struct ProcStat {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  std::string name;           // as the kernel cuts it: 15 bytes of the program's
  char state = '?';
  uint64_t cpu_ticks = 0;     // user + system, all its threads
  uint64_t reaped_ticks = 0;  // the same of children that it waited for, and of theirs
  uint64_t start_ticks =
      0;  // since boot; with the pid it names a process for the life of the machine
  bool ended() const { return state == 'Z' || state == 'X'; }
  uint64_t total_ticks() const { return cpu_ticks + reaped_ticks; }
};

double ticks_per_second();
std::optional<ProcStat> parse_stat(std::string_view line);  // nothing when it is no stat line
std::optional<ProcStat> read_stat(pid_t pid);               // nothing when there is no such process
std::vector<ProcStat> all_processes();  // zombies too; dear on a crowded machine

// `root` (when it is in `all`) and everything below it by parent, in any order.
std::vector<ProcStat> descendants(const std::vector<ProcStat>& all, pid_t root);
// The same straight from the kernel's child lists where it has them: cost grows with the family
// alone.
std::vector<ProcStat> read_descendants(pid_t root);

// The environment that a process was started with; nothing when it ended, is hidden from us or has
// written over it.
std::optional<std::map<std::string, std::string>> read_environment(pid_t pid);

struct ThreadTime {
  uint64_t run_ns = 0, wait_ns = 0;
};  // on a core; runnable but waiting for one
std::map<pid_t, ThreadTime> read_thread_times(
    pid_t pid);  // by thread; empty where the kernel keeps none

// Whether it has `file` open, by identity, not by name: false also when it ended, is hidden from us
// (another container, another user) or the file is not there.
bool has_open(pid_t pid, const std::filesystem::path& file);

// A pidfd for exactly this process; empty when it is gone.
Descriptor open_process(pid_t pid, uint64_t start_ticks);
// Signals exactly this process; false when it is gone.
bool send_signal(pid_t pid, uint64_t start_ticks, int signal);

}  // namespace hyperloom

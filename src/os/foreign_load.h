// Who else used the machine, by name: for people, never for a decision.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hyperloom {

struct NamedLoad {
  std::string name;  // as the kernel cuts it: 15 bytes
  double cores = 0;  // all processes of that name together
};

using ProcessKey = std::pair<pid_t, uint64_t>;  // pid and start time

struct ProcessTime {
  std::string name;
  uint64_t ticks = 0;  // user + system of it and of the children that it reaped
};
// Of every process that we may see. `proc`: /proc but for tests. A walk over all of it: before and
// after a leg, never within.
std::map<ProcessKey, ProcessTime> read_process_times(const std::filesystem::path& proc = "/proc");

// Those that are not `ours` and used at least 0.02 cores over `ticks` (of one core) between the two
// readings, greatest first, three names at most. What began in between counts whole; what ended in
// between shows in the parent that reaped it.
std::vector<NamedLoad> busiest(const std::map<ProcessKey, ProcessTime>& before,
                               const std::map<ProcessKey, ProcessTime>& after,
                               const std::set<ProcessKey>& ours, double ticks);

}  // namespace hyperloom

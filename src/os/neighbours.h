// The arithmetic behind Sentinel, over snapshots: pure, so that it is tested without a real /proc.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "os/host_sample.h"
#include "os/procfs.h"
#include "os/sentinel.h"

namespace hyperloom {

struct Snapshot {
  double at_s = 0;
  HostSample host;
  double speed_msteps_s = 0;  // 0 = not probed
  std::map<std::pair<pid_t, uint64_t>, ProcStat>
      family;                           // by pid and start time; this process is in it
  std::map<pid_t, ThreadTime> threads;  // of the family without this process, by thread
  pid_t self = 0;
};

struct Scale {
  double ticks_per_s = 100, cores = 1, page_bytes = 4096;
};

// CPU ticks that the family used between two snapshots, members that began or ended in between
// included. What an ended member used since it was last seen shows only in its parent's account of
// reaped children: growth of those accounts, less what was already seen of the ended. A parent that
// ignores SIGCHLD keeps no such account; then at most half a second of the ended member's time goes
// missing.
uint64_t family_ticks(const Snapshot& before, const Snapshot& after);
// The same of this process alone.
uint64_t self_ticks(const Snapshot& before, const Snapshot& after);

// Share of their runnable time that the family's threads waited for a core without need. With W
// waiting and R running threads on average, W + R - cores wait whatever the neighbours do; only
// waiting beyond that counts. 0 where the kernel keeps no schedstat.
double queue_delay(const Snapshot& before, const Snapshot& after, double cores);

// Adds up windows between successive snapshots.
class NeighbourSums {
 public:
  explicit NeighbourSums(const Scale& scale) : scale_(scale) {}
  void add(const Snapshot& before, const Snapshot& after);
  Neighbours result() const;

 private:
  struct Window {
    double seconds, foreign_s;
  };
  // Mean over time of what is told now and then; weighted by the window that a reading closes.
  struct Told {
    double weighted = 0, seconds = 0, lowest = 0, highest = 0;
    void add(double value, double for_s);
    std::optional<double> mean() const;
  };
  void add_told(const Snapshot& before, const Snapshot& after, double seconds);
  Scale scale_;
  double seconds_ = 0, foreign_s_ = 0, own_s_ = 0, steal_s_ = 0, delay_weighted_ = 0, swap_mib_ = 0;
  double peak_ = 0, longest_ = 0;
  Told clock_, speed_, temperature_, cpu_stall_, memory_stall_, io_stall_;
  std::optional<double> throttles_;
  std::vector<Window> last_second_;  // the windows that make up the second just behind
};

}  // namespace hyperloom

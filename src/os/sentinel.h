// Watches the neighbours while a leg runs: CPU used by others, waiting, steal, swap, clocks, heat.
// What it saw is a value, Neighbours; whether that spoils a leg is pollution.h.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "os/foreign_load.h"
#include "os/gpu_use.h"

namespace hyperloom {

struct Neighbours {
  double seconds = 0;
  // Cores used by processes that are neither ours nor our children's: mean over the leg, worst second.
  double foreign_cpu = 0, foreign_cpu_peak = 0;
  double steal = 0;  // cores' worth of time that the hypervisor took, mean
  // Share of time that our children's runnable threads waited for a core beyond their own
  // contention (0..), from /proc/PID/schedstat.
  double run_queue_delay = 0;
  double own_cpu = 0;   // cores used by our children
  double swap_mib = 0;  // swapped in or out
  // From here on absent where this machine does not tell.
  std::optional<double> clock_mhz, clock_lowest_mhz;  // of the fastest core: mean, lowest sample
  // Of a fixed loop that the sentinel runs, millions of steps a CPU second (speed_probe.h): mean, lowest.
  std::optional<double> speed_msteps_s, speed_lowest_msteps_s;
  std::optional<double> temperature_c;  // hottest sample of the hottest CPU sensor
  std::optional<double> throttles;      // times that a core or package slowed down for heat
  // Share of time in which some task of the host, ours included, waited for a core, memory or a disk.
  std::optional<double> cpu_stalled, memory_stalled, io_stalled;
  std::vector<NamedLoad> busiest;  // who the others were, as far as we may see them
  std::vector<GpuUse> gpus;        // all that a driver tells of; empty where there is none
};
void to_json(Json& json, const Neighbours& n);
void from_json(const Json& json, Neighbours& n);

// Samples twice a second on its own thread from construction to finish(). `family_root` and all its descendants, and this
// process, are ours; everything else is foreign.
class Sentinel {
 public:
  explicit Sentinel(pid_t family_root, const GpuSources& gpus = {});
  ~Sentinel();
  Neighbours finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperloom

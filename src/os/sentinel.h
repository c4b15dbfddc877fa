// Watches the neighbours while a leg runs: CPU used by others, run-queue delay, steal, swap, frequency.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace hyperloom {

struct Neighbours {
  double seconds = 0;
  double foreign_cpu = 0;         // cores used by processes that are neither ours nor our children's, mean over the leg
  double foreign_cpu_peak = 0;    // worst second
  double steal = 0;               // cores' worth of time that the hypervisor took, mean
  double run_queue_delay = 0;     // share of time that our children's runnable threads waited for a core beyond their own contention (0..), from /proc/PID/schedstat
  double own_cpu = 0;             // cores used by our children
  double swap_mib = 0;            // swapped in or out
};
void to_json(Json& json, const Neighbours& n);
void from_json(const Json& json, Neighbours& n);

// Limits past which a leg is no evidence. Defaults suit a 2-core machine; `cores` scales nothing: 0.08 of a core hurts everywhere.
struct NeighbourLimits { double foreign_cpu = 0.10; double foreign_cpu_peak = 0.6; double steal = 0.05; double swap_mib = 1; };
std::vector<std::string> pollution(const Neighbours& n, const NeighbourLimits& limits);   // empty = clean; else one line a breach

// Samples twice a second on its own thread from construction to finish(). `family_root` and all its descendants, and this
// process, are ours; everything else is foreign.
class Sentinel {
 public:
  explicit Sentinel(pid_t family_root);
  ~Sentinel();
  Neighbours finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperloom

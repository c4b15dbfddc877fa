// When what the sentinel saw makes a leg no evidence.
#pragma once

#include <string>
#include <vector>

#include "os/sentinel.h"

namespace hyperloom {

// Limits past which a leg is no evidence: causes that are proven to change the figures of a leg, and
// not alike for all candidates. All else that the sentinel sees is recorded and shown, and voids
// nothing. Nothing here looks at the leg's value. Defaults suit a 2-core machine; the number of
// cores scales nothing: 0.08 of a core hurts everywhere.
struct NeighbourLimits {
  double foreign_cpu = 0.10;      // cores, mean over the leg
  double foreign_cpu_peak = 0.6;  // cores, worst second
  double steal = 0.05;            // cores
  double swap_mib = 1;
  double throttles = 0;  // times slowed down for heat
  // Share of the leg in which a GPU of ours was slowed by heat or hardware: at half the clock this is
  // an effect of 0.5 %, the least useful gain. Strangers on it have no limit: none may be there.
  double gpu_slowed = 0.01;
};

// Empty = clean; else one line a breach: what, how much, its limit, the mend.
std::vector<std::string> pollution(const Neighbours& n, const NeighbourLimits& limits);

// "clock 3400 MHz (lowest 2800), 71 degrees, ...": what was recorded beside the limits; "" when this
// machine tells none of it.
std::string recorded_text(const Neighbours& n);

}  // namespace hyperloom

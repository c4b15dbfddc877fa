// The workload's latency limits as one-sided guards on a comparison's pairs (statistics.md section 8): proven to stay
// under the limit, or, where the incumbent misses it, proven to come under it.
#pragma once

#include <string>
#include <vector>

#include "state/session_state.h"

namespace hyperloom {

struct LimitGuards {
  bool all_pass = true;          // no limits = all pass
  bool rescues = false;          // the incumbent misses a limit and the candidate is proven to meet all
  bool may_rescue = false;       // the incumbent misses a limit: worth all pairs
  std::vector<std::string> lines;
};

LimitGuards guard_limits(const SessionState& state, const Comparison& comparison);

// Whether the legs' geometric mean meets every limit; true without limits.
bool meets_limits(const Objective& objective, const std::vector<const LegRecord*>& legs);

}  // namespace hyperloom

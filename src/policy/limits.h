// The workload's latency limits as one-sided guards on a comparison's pairs (statistics.md section 8): proven to stay
// under the limit, or, where the incumbent misses it, proven to come under it. The first stands beside a proven gain
// and needs no correction for the number of comparisons; the second keeps a change by itself, so it spends the
// comparison's own share of alpha, over at least as many pairs.
#pragma once

#include <string>
#include <vector>

#include "state/session_state.h"
#include "stats/sequential.h"

namespace hyperloom {

struct LimitGuards {
  bool all_pass = true;          // no limits = all pass
  bool rescues = false;          // the incumbent misses a limit and the candidate is proven to meet all
  bool may_rescue = false;       // the incumbent misses a limit: worth all pairs
  std::vector<std::string> lines;
};

// Noise: what the limit's own metric did over the stock legs and over earlier comparisons. Without any the answer is "unproven".
LimitGuards guard_limits(const SessionState& state, const Comparison& comparison, const TestPlan& plan);

// Whether the legs' geometric mean meets every limit; true without limits.
bool meets_limits(const Objective& objective, const std::vector<const LegRecord*>& legs);
// Whether it is proven to, by a one-sided 95 % bound over fresh legs; false below 2 legs.
bool proven_within_limits(const Objective& objective, const std::vector<const LegRecord*>& legs);

}  // namespace hyperloom

// What a session may say of itself: its claim, its result's word, its limits.
#include <algorithm>
#include <cmath>
#include <limits>

#include "load/metrics.h"
#include "report/findings.h"

namespace hyperloom {
namespace {

using Legs = std::vector<const LegRecord*>;

Legs legs_of(const SessionState& state, const std::vector<PairDone>& pairs,
             std::string PairDone::* side) {
  Legs legs;
  for (const PairDone& pair : pairs) {
    const LegRecord* leg = state.leg(pair.*side);
    if (leg && leg->done && leg->done->result) legs.push_back(leg);
  }
  return legs;
}

std::optional<double> median_ms(const Legs& legs, const Limit& limit) {
  std::vector<double> values;
  for (const LegRecord* leg : legs) {
    const double ms = limit_value_ms(leg->done->result->load, limit);
    if (ms >= 0) values.push_back(ms);
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

// The legs that speak for the incumbent while there are no fresh pairs: those of its last keep.
Legs incumbent_legs(const SessionState& state) {
  for (auto stage = state.stages.rbegin(); stage != state.stages.rend(); ++stage) {
    if (const Comparison* comparison = state.comparison(stage->comparison)) {
      return legs_of(state, comparison->pairs, &PairDone::leg_b);
    }
  }
  return state.good_legs("stock");
}

}  // namespace

bool void_by_failure(const LegRecord& leg) {
  return !leg.void_reason.empty() && leg.done && leg.done->failure;
}

std::vector<const LegRecord*> full_stack_failures(const SessionState& state) {
  Legs failed;
  for (const LegRecord& leg : state.legs) {
    if (leg.plan.purpose == "final" && leg.plan.arm == "b" && void_by_failure(leg))
      failed.push_back(&leg);
  }
  return failed;
}

std::optional<double> geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    if (!(value > 0)) return std::nullopt;
    sum += std::log(value);
  }
  if (values.empty()) return std::nullopt;
  return std::exp(sum / static_cast<double>(values.size()));
}

Interval interval_of(const std::vector<double>& logs) {
  if (logs.size() >= 2) return claim_interval(logs);
  constexpr double kNoEnd = std::numeric_limits<double>::infinity();
  return logs.empty() ? Interval{} : Interval{logs[0], -kNoEnd, kNoEnd, 0, 1};
}

Interval final_claim(const SessionState& state) {
  std::vector<double> logs;
  for (const PairDone& pair : state.final_pairs) logs.push_back(pair.log_ratio);
  return interval_of(logs);
}

std::vector<LimitCheck> check_limits(const SessionState& state) {
  const bool fresh = !state.final_pairs.empty();
  const Legs stock =
      fresh ? legs_of(state, state.final_pairs, &PairDone::leg_a) : state.good_legs("stock");
  const Legs best =
      fresh ? legs_of(state, state.final_pairs, &PairDone::leg_b) : incumbent_legs(state);
  std::vector<LimitCheck> checks;
  for (const Limit& limit : state.workload.objective.limits) {
    checks.push_back({limit, median_ms(stock, limit), median_ms(best, limit)});
  }
  return checks;
}

bool all_meet(const std::vector<LimitCheck>& checks, bool (LimitCheck::*meets)() const) {
  return std::all_of(checks.begin(), checks.end(),
                     [&](const LimitCheck& check) { return (check.*meets)(); });
}

std::optional<Nearest> nearest_to_limits(const SessionState& state) {
  std::vector<std::pair<Candidate, Legs>> measured;
  for (const LegRecord& leg : state.legs) {
    // Only full legs under the workload's own traffic can speak about its limits.
    const std::string& purpose = leg.plan.purpose;
    if (!leg.good() || (purpose != "stock" && purpose != "pair" && purpose != "final")) continue;
    const auto known = std::find_if(measured.begin(), measured.end(), [&](const auto& entry) {
      return entry.first.changes == leg.plan.candidate.changes;
    });
    (known == measured.end() ? measured.emplace_back(leg.plan.candidate, Legs{}) : *known)
        .second.push_back(&leg);
  }
  std::optional<Nearest> nearest;
  double nearest_excess = 0;
  for (const auto& [candidate, legs] : measured) {
    std::optional<Nearest> worst;
    double worst_excess = 0;
    for (const Limit& limit : state.workload.objective.limits) {
      const auto ms = median_ms(legs, limit);
      if (!ms || limit.max_ms <= 0) continue;
      const double excess = *ms / limit.max_ms;
      if (!worst || excess > worst_excess) {
        worst = Nearest{candidate, limit, *ms};
        worst_excess = excess;
      }
    }
    if (worst && (!nearest || worst_excess < nearest_excess)) {
      nearest = worst;
      nearest_excess = worst_excess;
    }
  }
  return nearest;
}

std::vector<Contribution> contributions(const SessionState& state) {
  std::vector<Contribution> found;
  constexpr std::string_view kWithout = "without:";
  for (const auto& [group, pairs] : state.ablation) {
    const std::string knob = group.starts_with(kWithout) ? group.substr(kWithout.size()) : group;
    std::vector<double> logs;
    for (const PairDone& pair : pairs) {
      // Whichever side lacks the change is the one without it.
      const LegRecord* a = state.leg(pair.leg_a);
      const bool b_is_full = !a || a->plan.candidate.find(knob) == nullptr;
      logs.push_back(b_is_full ? pair.log_ratio : -pair.log_ratio);
    }
    if (!logs.empty()) found.push_back({knob, interval_of(logs)});
  }
  return found;
}

std::string result_of(const SessionState& state, bool provisional) {
  if (state.closed && !provisional) return state.closed->result;  // said once, when it closed
  if (!state.enabled) return provisional ? "interrupted" : "not_enabled";
  const std::vector<LimitCheck> limits = check_limits(state);
  const bool stock_meets = all_meet(limits, &LimitCheck::stock_meets);
  const bool best_meets = all_meet(limits, &LimitCheck::best_meets);
  const Interval claim = final_claim(state);
  // Faster but past the limits that the workload sets is not what was asked for.
  if (claim.n >= 1 && !limits.empty() && !best_meets) return "limits_unmet";
  const bool rescued = !limits.empty() && !stock_meets && best_meets;
  if (claim.n >= kLeastClaimPairs && (claim.low > 0 || rescued)) return "improved";
  if (provisional) return "interrupted";
  if (!limits.empty() && !stock_meets && !best_meets) return "limits_unmet";
  return "no_gain";
}

}  // namespace hyperloom

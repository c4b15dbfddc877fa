// Close, from any end: fresh pairs stock against full stack, leave-one-out, roofline after, recipe, closed (L9).
#include <algorithm>
#include <cmath>

#include "policy/gate.h"
#include "policy/limits.h"
#include "session/budget.h"
#include "session/legs.h"
#include "session/profiling.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

constexpr int kFatalFailures = 2;          // of the full stack in its own claim: that is no winner, whatever its other boots show
const std::string kFailed = "failed: ";

int full_stack_failures(const SessionState& s) {
  return static_cast<int>(std::count_if(s.legs.begin(), s.legs.end(), [](const LegRecord& leg) {
    return leg.plan.purpose == "final" && leg.plan.arm == "b" && leg.void_reason.starts_with(kFailed);
  }));
}

// The stack without one item; where stock has a setting of its own there, that.
Candidate stack_without(const SessionState& s, const Change& item) {
  const Change* stock = s.enabled->stock.find(item.knob);
  return stock ? s.incumbent.with(*stock) : s.incumbent.without(item.knob);
}

// One more pair of a group; nothing when `wanted` are done or it cannot be had.
std::optional<Step> one_pair(const SessionState& s, const std::string& purpose, const std::string& group, int done, int wanted,
                             const Candidate& a, const Candidate& b) {
  if (done >= wanted) return {};
  PairProgress progress = pair_progress(s, group, done);
  if (progress.spoiled >= kMostAttempts || full_stack_failures(s) >= kFatalFailures) return {};
  for (const LegRecord* leg : {progress.a, progress.b})
    if (leg && leg->failed()) return emit("leg.void", leg->plan.id, LegVoid{leg->plan.id, kFailed + leg->done->failure->text(), 0});
  if (progress.a && progress.b) return emit("pair.done", group, finished_pair(s, group, done, progress));
  return next_pair_leg(s, purpose, group, done, a, b);
}

std::string stop_reason(const SessionState& s) {
  for (auto p = s.phases.rbegin(); p != s.phases.rend(); ++p)
    if (p->phase == "close") return p->reason;
  return "nothing_left";
}

}  // namespace

std::string close_result(const SessionState& s) {
  if (!s.enabled) return "not_enabled";
  std::vector<double> ratios;
  std::vector<const LegRecord*> stock, best;
  for (const PairDone& p : s.final_pairs) {
    ratios.push_back(p.log_ratio);
    stock.push_back(s.leg(p.leg_a));
    best.push_back(s.leg(p.leg_b));
  }
  const Objective& objective = s.workload.objective;
  const bool stock_meets = meets_limits(objective, stock.empty() ? s.good_legs("stock") : stock);
  if (best.empty()) return stock_meets ? "no_gain" : "limits_unmet";
  const bool claimed = best.size() >= static_cast<size_t>(kLeastClaimPairs) && full_stack_failures(s) < kFatalFailures;
  if (!objective.limits.empty() && !proven_within_limits(objective, best)) return "limits_unmet";
  return claimed && (!stock_meets || claim_interval(ratios).low > 0) ? "improved" : "no_gain";
}

Step close(const Rules& rules, const SessionState& s) {
  if (s.enabled && !(s.incumbent == s.enabled->stock)) {
    if (auto step = one_pair(s, "final", "final", static_cast<int>(s.final_pairs.size()), final_pairs_wanted(s), s.enabled->stock, s.incumbent))
      return *step;
    // The claim is owed; the rest is done while there is time for it.
    bool paid = s.left_s() >= pair_cost_s(s) + leg_cost_s(s);
    if (s.kept_items.size() > 1 && paid)
      for (const Change& item : s.kept_items) {
        const Candidate without = stack_without(s, item);
        if (check_candidate(rules.pack, s, without)) continue;   // the rest cannot stand without it
        std::string group = "without:" + item.knob;
        auto have = s.ablation.find(group);
        if (auto step = one_pair(s, "ablation", group, have == s.ablation.end() ? 0 : static_cast<int>(have->second.size()), 1,
                                 without, s.incumbent))
          return *step;
      }
    if (s.left_s() >= leg_cost_s(s))
      if (auto step = profile_of(rules, s, "best", s.incumbent)) return *step;
  }
  if (s.enabled && s.noise_known && !s.recipe) return DoRecipeWrite{};
  return emit("closed", "closed", Closed{close_result(s), stop_reason(s), false});
}

}  // namespace hyperloom

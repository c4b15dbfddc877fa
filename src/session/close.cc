// Close, from any end: fresh pairs stock against full stack, leave-one-out, roofline after, recipe, closed (L9).
#include <cmath>

#include "policy/gate.h"
#include "session/budget.h"
#include "session/legs.h"
#include "session/limits.h"
#include "session/profiling.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

// One more pair of a group; nothing when `wanted` are done or it cannot be had.
std::optional<Step> one_pair(const SessionState& s, const std::string& purpose, const std::string& group, int done, int wanted,
                             const Candidate& a, const Candidate& b) {
  if (done >= wanted) return {};
  PairProgress progress = pair_progress(s, group, done);
  if (progress.spoiled >= kMostAttempts) return {};
  for (const LegRecord* leg : {progress.a, progress.b})
    if (leg && leg->failed()) return emit("leg.void", leg->plan.id, LegVoid{leg->plan.id, "failed: " + leg->done->failure->text(), 0});
  if (progress.a && progress.b) return emit("pair.done", group, finished_pair(s, group, done, progress));
  return next_pair_leg(s, purpose, group, done, a, b);
}

std::string result(const SessionState& s) {
  if (!s.enabled) return "not_enabled";
  std::vector<double> ratios;
  std::vector<const LegRecord*> best;
  for (const PairDone& p : s.final_pairs) {
    ratios.push_back(p.log_ratio);
    best.push_back(s.leg(p.leg_b));
  }
  if (!s.workload.objective.limits.empty()) {
    bool stock_meets = meets_limits(s.workload.objective, s.good_legs("stock"));
    bool best_meets = best.empty() ? stock_meets : meets_limits(s.workload.objective, best);
    if (!best_meets) return "limits_unmet";
    if (!stock_meets) return "improved";
  }
  return ratios.size() >= 2 && claim_interval(ratios).low > 0 ? "improved" : "no_gain";
}

std::string stop_reason(const SessionState& s) {
  for (auto p = s.phases.rbegin(); p != s.phases.rend(); ++p)
    if (p->phase == "close") return p->reason;
  return "nothing_left";
}

}  // namespace

Step close(const Rules& rules, const SessionState& s) {
  if (s.enabled && !(s.incumbent == s.enabled->stock)) {
    if (auto step = one_pair(s, "final", "final", static_cast<int>(s.final_pairs.size()), final_pairs_wanted(s), s.enabled->stock, s.incumbent))
      return *step;
    // The claim is owed; the rest is done while there is time for it.
    bool paid = s.left_s() >= pair_cost_s(s) + leg_cost_s(s);
    if (s.kept_items.size() > 1 && paid)
      for (const Change& item : s.kept_items) {
        if (check_candidate(rules.pack, s, s.incumbent.without(item.knob))) continue;   // the rest cannot stand without it
        std::string group = "without:" + item.knob;
        auto have = s.ablation.find(group);
        if (auto step = one_pair(s, "ablation", group, have == s.ablation.end() ? 0 : static_cast<int>(have->second.size()), 1,
                                 s.incumbent.without(item.knob), s.incumbent))
          return *step;
      }
    if (s.left_s() >= leg_cost_s(s))
      if (auto step = profile_of(rules, s, "best", s.incumbent)) return *step;
  }
  if (s.enabled && s.noise_known && !s.recipe) return DoRecipeWrite{};
  return emit("closed", "closed", Closed{result(s), stop_reason(s), false});
}

}  // namespace hyperloom

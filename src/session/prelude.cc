#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "session/budget.h"
#include "session/exams.h"
#include "session/legs.h"
#include "session/profiling.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

// Legs 0 and 1 share a trace: they give the floor of greedy agreement, stock against itself under the same load.
std::optional<Step> stock_legs(const SessionState& s) {
  int good = static_cast<int>(s.good_legs("stock").size());
  if (good >= stock_legs_wanted(s)) return {};
  DoLeg leg = plan_leg(s, "stock", "stock", "a", good, s.enabled->stock);
  int failed = 0;
  for (const LegRecord& l : s.legs) {
    if (l.plan.group != "stock" || l.plan.pair != good) continue;
    failed += l.failed();
    leg.plan.attempt += !l.void_reason.empty() && !l.interrupted();
  }
  if (s.left_s() < 2 * leg_cost_s(s)) return enter_phase(s, "close", "budget", "no time left for clean stock legs");
  if (failed >= 2) return enter_phase(s, "close", "stock_keeps_failing", "the stock configuration failed under load");
  if (leg.plan.attempt > 2 * kMostAttempts) return enter_phase(s, "close", "host_never_quiet", "no stock leg without foreign load");
  leg.plan.seed = plan_leg(s, "stock", "stock", "a", std::max(0, good - 1) == 0 ? 0 : good, s.enabled->stock).plan.seed;
  return leg;
}

}  // namespace

std::optional<Step> prelude(const Rules& rules, const SessionState& s) {
  if (!s.probe) return DoProbe{};
  if (auto step = enablement(rules, s)) return step;
  // Judged by a full and clean leg: the first boot ever may be slow in ways that no later one is.
  if (s.good_legs("stock").size() == 1 && s.workload.time_s < least_budget_s(s))
    return enter_phase(s, "close", "budget_too_small",
                       "this workload needs about " + format_duration(least_budget_s(s)) + " here, the budget is " +
                           format_duration(s.workload.time_s));
  if (!s.noise_known) {
    if (auto step = stock_legs(s)) return step;
    return emit("probe", "noise", Json{{"what", "noise"}});
  }
  if (auto step = stock_exams(s)) return step;
  if (!s.replay_looked_up) return DoRecipes{};
  if (auto step = trials(rules, s)) return step;
  if (auto step = profile_of(rules, s, "stock", s.enabled->stock)) return step;
  return {};
}

}  // namespace hyperloom

#include <algorithm>
#include <cmath>

#include "agent/built_in.h"
#include "search/proposals.h"

namespace hyperloom {
namespace {

// Predictions are logged and scored, never used to decide. Without a screening leg: what a known good move brings.
constexpr double kExpertLog = 0.05;

bool direction_open(const Pack& pack, const SessionState& state, const Change& change) {
  const Knob* knob = pack.knob(change.knob);
  if (!knob || knob->directions.empty() || state.profiles.empty()) return true;
  const Roofline& roof = state.profiles.back().roofline;
  return std::any_of(knob->directions.begin(), knob->directions.end(), [&](Direction d) {
    for (const RoofPoint& p : roof.points)
      if (p.direction == d) return p.open();
    return true;
  });
}

}  // namespace

std::optional<Intent> BuiltInPlanner::propose(const Pack& pack, const SessionState& state) const {
  if (state.phase != "framework") return {};
  for (const Change& change : legal_moves(pack, state)) {
    if (settled(state, change) || !direction_open(pack, state, change)) continue;
    const Knob* knob = pack.knob(change.knob);
    Intent intent{.id = "P" + std::to_string(state.proposals.size() + 1), .role = "planner", .kind = "propose",
                  .phase = state.phase, .change = change, .source = "expert"};
    intent.a = state.incumbent;
    intent.predicted_log = is_leader(pack, state, change) ? kExpertLog : 0;
    intent.why = knob->see.empty() ? "legal here, not yet judged on this incumbent" : knob->see;
    return intent;
  }
  return {};
}

std::optional<Intent> BuiltInPlanner::compare(const Pack& pack, const SessionState& state) const {
  const Proposal* best = nullptr;
  auto rank = [&](const Proposal& p) {
    const Knob* knob = pack.knob(p.intent.change.knob);
    return knob ? knob->expert_rank : 50;
  };
  // Leaders and replays first, in expert order; then screened ones by value while above the useful gain.
  auto direct = [&](const Proposal& p) {
    return p.status == ProposalStatus::Waiting &&
           (p.intent.source == "recipe" || (p.intent.source == "expert" && is_leader(pack, state, p.intent.change)));
  };
  for (const Proposal& p : state.proposals)
    if (direct(p) && p.intent.phase == state.phase && (!best || rank(p) < rank(*best))) best = &p;
  if (!best)
    for (const Proposal& p : state.proposals)
      if (p.status == ProposalStatus::Screened && p.intent.phase == state.phase && p.screened_log && *p.screened_log > state.workload.objective.least_gain_log() &&
          (!best || *p.screened_log > *best->screened_log))
        best = &p;
  if (!best) return {};
  Intent intent{.id = "C" + std::to_string(state.comparisons.size() + 1), .role = "planner", .kind = "compare",
                .phase = state.phase, .change = best->intent.change, .source = best->intent.source,
                .proposal = best->intent.id};
  intent.a = state.incumbent;
  intent.b = state.incumbent.with(best->intent.change);
  intent.predicted_log = best->screened_log ? *best->screened_log : best->intent.predicted_log;
  intent.why = best->screened_log ? "screened at " + std::to_string(std::lround(std::expm1(*best->screened_log) * 1000) / 10.0).substr(0, 5) + " %"
                                  : best->intent.why;
  return intent;
}

TestPlan test_plan(const SessionState& state) {
  TestPlan plan;
  plan.alpha_k = alpha_per_comparison(state.workload.alpha, state.workload.comparisons);
  plan.useful_gain = state.workload.objective.least_gain_log();
  return plan;
}

}  // namespace hyperloom

// Propose, screen, compare: the same for replayed items, framework knobs and kernel claims.
#include "policy/gate.h"
#include "session/budget.h"
#include "session/legs.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

std::optional<Step> propose(const Rules& rules, const SessionState& s) {
  // Proposals that others made (recipes, the backend) and the gate has not seen refuse here.
  for (const Proposal& p : s.proposals)
    if (p.status == ProposalStatus::Waiting && p.intent.phase == s.phase && !p.screened_log)
      if (auto refused = gate(rules.pack, s, p.intent)) return emit("gate.refused", p.intent.id, *refused);
  auto intent = rules.roles.planner->propose(rules.pack, s);
  if (!intent) return {};
  return emit("intent", intent->id, *intent);
}

std::optional<Step> compare(const Rules& rules, const SessionState& s, const Intent& intent) {
  if (auto refused = gate(rules.pack, s, intent)) {
    refused->intent = intent.proposal;
    return emit("gate.refused", intent.proposal, *refused);
  }
  if (auto lacks = cannot_prepare(s, intent.b))   // known already: not worth one of the declared comparisons
    return emit("reverted", intent.proposal, Reverted{"", intent.proposal, lacks->evidence ? "failed" : "no_evidence", lacks->why});
  return emit("intent", intent.id, intent);
}

// What is left over of this phase when nothing more is worth comparing; of every phase when nothing more can be paid.
enum class Of { ThisPhase, All };
std::optional<Step> tidy(const SessionState& s, const std::string& why, Of of) {
  for (const Proposal& p : s.proposals) {
    if (p.status != ProposalStatus::Waiting && p.status != ProposalStatus::Screened) continue;
    if (of == Of::ThisPhase && p.intent.phase != s.phase) continue;
    bool below = p.screened_log && *p.screened_log <= s.workload.objective.least_gain_log();
    return emit("reverted", p.intent.id, Reverted{"", p.intent.id, below ? "screened_out" : "no_budget",
                                                  below ? "no gain in a short leg" : why});
  }
  return {};
}

bool affordable(const SessionState& s, double reserve_s) { return searchable_s(s) - reserve_s >= 3 * pair_cost_s(s) + quality_cost_s(s); }

}  // namespace

std::optional<Step> trials(const Rules& rules, const SessionState& s) {
  if (!s.comparisons.empty())
    if (auto step = drive(rules, s, s.comparisons.back())) return step;
  if (auto alarm = rules.roles.watchdog->watch(s)) return emit("intent", alarm->id, *alarm);
  if (s.stop_alert()) return {};
  if (!affordable(s, 0)) return tidy(s, "no time left for a comparison", Of::All);
  if (static_cast<int>(s.comparisons.size()) >= s.workload.comparisons) return tidy(s, "all declared comparisons are spent", Of::All);
  const double reserve = kernel_reserve_s(s);
  if (reserve > 0 && !affordable(s, reserve + leg_cost_s(s))) return {};   // they wait: what builds leave over is theirs again
  if (auto step = propose(rules, s)) return step;
  auto wanted = rules.roles.planner->compare(rules.pack, s);
  const Proposal* subject = wanted ? s.proposal(wanted->proposal) : nullptr;
  bool leader = subject && !subject->screened_log;
  if (!leader)
    if (auto step = screen(rules, s)) return step;
  if (wanted) return compare(rules, s, *wanted);
  return tidy(s, "not reached", Of::ThisPhase);
}

}  // namespace hyperloom

#include "search/proposals.h"

#include <algorithm>

#include "base/error.h"
#include "candidate/facts.h"
#include "candidate/legal_changes.h"

namespace hyperloom {

Facts facts_of(const SessionState& state, const Pack& pack, const Candidate& candidate) {
  return gather_facts(pack, state.probe->model, state.probe->machine, state.workload, candidate);
}

std::set<std::string> help_flags(const SessionState& state) {
  std::set<std::string> flags;
  if (!state.enabled) return flags;
  if (const BuildEvent* build = state.build(state.enabled->build))
    flags.insert(build->help_flags.begin(), build->help_flags.end());
  return flags;
}

std::vector<Change> legal_moves(const Pack& pack, const SessionState& state) {
  Facts facts = facts_of(state, pack, state.incumbent);
  std::set<std::string> flags = help_flags(state);
  std::vector<const Knob*> knobs;
  for (const Knob& knob : pack.knobs)
    if (knob.kind == "flag" || knob.kind == "env" || knob.kind == "precision") knobs.push_back(&knob);
  std::stable_sort(knobs.begin(), knobs.end(),
                   [](const Knob* a, const Knob* b) { return a->expert_rank < b->expert_rank; });
  std::vector<Change> moves;
  for (const Knob* knob : knobs)
    for (Change& change : legal_values(pack, *knob, facts, flags, state.incumbent)) {
      const Change* now = state.incumbent.find(change.knob);
      if (!now || now->value != change.value) moves.push_back(std::move(change));
    }
  return moves;
}

bool settled(const SessionState& state, const Change& change) {
  for (const Proposal& p : state.proposals) {
    if (!(p.intent.change == change)) continue;
    if (p.status == ProposalStatus::Refused) return true;
    if (p.status == ProposalStatus::Kept) continue;
    if (!p.reverted) return true;   // still under way
    const std::string& code = p.reverted->code;
    if (code == "quality" || code == "failed" || code == "vetoed") return true;
    if (p.intent.a.id() == state.incumbent.id()) return true;   // asked on this incumbent already, whatever came of it
  }
  // Judged on this very incumbent: a leg of exactly this candidate stands in the journal.
  Candidate candidate = state.incumbent.with(change);
  for (const LegRecord& leg : state.legs)
    if (leg.good() && leg.plan.candidate == candidate && (leg.plan.purpose == "screen" || leg.plan.purpose == "pair")) return true;
  return false;
}

bool is_leader(const Pack& pack, const SessionState& state, const Change& change) {
  const Knob* knob = pack.knob(change.knob);
  if (!knob || knob->expert_rank > kLeaderRank || knob->values.empty()) return false;
  // The first value is the known good one; the others are screened.
  const std::string& first = knob->values.front();
  if (first == change.value) return true;
  try {
    auto value = evaluate(first, facts_of(state, pack, state.incumbent));
    return value && text_of(*value) == change.value;
  } catch (const Error&) {
    return false;   // a literal that is no expression
  }
}

}  // namespace hyperloom

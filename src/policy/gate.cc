#include "policy/gate.h"

#include <algorithm>

#include "candidate/legal_changes.h"
#include "search/proposals.h"

namespace hyperloom {
namespace {

// The name under `touch:` that governs a change.
std::string touch_name(const Change& change) {
  if (change.kind == "flag") return "flags";
  if (change.kind == "table") return "kernels";
  if (change.kind == "patch") return "source";
  return change.kind;
}

// Permission first, then whether this build, model and machine allow it.
std::optional<Refused> check_change(const Pack& pack, const SessionState& state, const Change& change) {
  if (!state.workload.may_touch(touch_name(change), change.knob))
    return Refused{"", "touch", change.text(), "allow it under touch: " + touch_name(change) + " in the workload"};
  if (!state.workload.engine_command.empty() && (change.kind == "build" || change.kind == "precision"))
    return Refused{"", "own_command", change.text(), "leave engine.command out: the pack's own build and tools are needed for it"};
  if (change.kind == "build") {
    if (!pack.build(change.value)) return Refused{"", "known_build", change.value, "name a build of the pack"};
    if (const BuildEvent* build = state.build(change.value); build && !build->ok && !build->out_of_time)
      return Refused{"", "build_failed", change.value, "mend the build: " + build->error};
  } else if (!pack.knob(change.knob)) {
    return Refused{"", "known_knob", change.knob, "name a knob of the pack"};
  }
  return {};
}

std::optional<Refused> check_legal(const Pack& pack, const SessionState& state, const Candidate& candidate) {
  std::string why = why_illegal(pack, facts_of(state, pack, candidate), help_flags(state), candidate);
  if (why.empty()) return {};
  return Refused{"", "legal_value", why, "take a value that this build, model and machine allow"};
}

}  // namespace

std::optional<Refused> check_candidate(const Pack& pack, const SessionState& state, const Candidate& candidate) {
  Candidate below = state.enabled ? state.enabled->stock : Candidate{};
  for (const Change& change : candidate.changes) {
    if (below.find(change.knob) && *below.find(change.knob) == change) continue;   // the user's or the ladder's own
    if (auto refused = check_change(pack, state, change)) return refused;
  }
  return check_legal(pack, state, candidate);
}

std::optional<Refused> gate(const Pack& pack, const SessionState& state, const Intent& intent) {
  auto refuse = [&](const std::string& rule, const std::string& value, const std::string& mend) {
    return Refused{intent.id, rule, value, mend};
  };
  if (state.phase == "close") return refuse("phase", intent.kind, "nothing new starts in close");
  if (intent.kind == "propose") {
    auto refused = check_change(pack, state, intent.change);
    if (!refused) refused = check_legal(pack, state, state.incumbent.with(intent.change));
    if (refused) refused->intent = intent.id;
    return refused;
  }
  if (intent.kind == "compare") {
    if (static_cast<int>(state.comparisons.size()) >= state.workload.comparisons)
      return refuse("declared_comparisons", std::to_string(state.workload.comparisons),
                    "declare more under comparisons: before the session starts");
    if (!(intent.a == state.incumbent))
      return refuse("against_incumbent", intent.a.text(), "compare with the incumbent of today");
    if (auto refused = check_candidate(pack, state, intent.b)) {
      refused->intent = intent.id;
      return refused;
    }
    for (const Comparison& c : state.comparisons)
      if (c.quality && !c.quality->report.held() && !c.quality->report.kl.no_evidence && c.intent.b == intent.b)
        return refuse("quality_is_final", intent.b.text(), "a refusal on quality is final for that candidate");
    return {};
  }
  if (intent.kind == "stop" || intent.kind == "alert") return {};
  return refuse("known_intent", intent.kind, "propose, compare, stop or alert");
}

}  // namespace hyperloom

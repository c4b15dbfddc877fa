// Screening: one short leg a waiting proposal, with two control legs of the incumbent in the same round. It ranks and
// drops; it never keeps.
#include <algorithm>
#include <cmath>

#include "policy/gate.h"
#include "search/proposals.h"
#include "session/budget.h"
#include "session/legs.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

constexpr double kShort = 0.6;           // of a full leg's window
constexpr double kBuildShare = 0.5;      // of what is left to search with, at most for one build

// Controls belong to one incumbent: after a keep the next round has its own.
std::string round_of(const SessionState& s) { return "R" + std::to_string(s.cycle) + "-" + s.phase + "-" + s.incumbent.id(); }

bool waits(const Rules& rules, const SessionState& s, const Proposal& p) {
  return p.status == ProposalStatus::Waiting && p.intent.phase == s.phase && p.intent.source != "recipe" &&
         !(p.intent.source == "expert" && is_leader(rules.pack, s, p.intent.change));
}

struct Slot { const LegRecord* leg = nullptr; int attempts = 0; std::string spoiled_by; };
Slot find_slot(const SessionState& s, const std::string& subject) {
  Slot slot;
  for (const LegRecord& leg : s.legs) {
    if (leg.plan.group != round_of(s) || leg.plan.why != subject) continue;
    slot.attempts += !leg.interrupted();
    if (!leg.void_reason.empty() && !leg.interrupted()) slot.spoiled_by = leg.void_reason;
    if (leg.done && leg.void_reason.empty()) slot.leg = &leg;
  }
  return slot;
}

std::optional<Step> run_slot(const SessionState& s, const std::string& subject, const std::string& arm, const Candidate& candidate) {
  Slot slot = find_slot(s, subject);
  if (slot.leg || slot.attempts >= kMostAttempts) return {};
  DoLeg leg = plan_leg(s, "screen", round_of(s), arm, -1, candidate);
  leg.plan.why = subject;
  leg.plan.attempt = slot.attempts;
  int drain = std::max(1, s.workload.traffic.clients);
  leg.plan.measured = drain + std::max(drain / 2, static_cast<int>(std::lround((leg.plan.measured - drain) * kShort)));
  return leg;
}

// How long a variant took to build here, the latest; 0 = none yet.
double variant_build_s(const SessionState& s) {
  for (auto build = s.builds.rbegin(); build != s.builds.rend(); ++build)
    if (s.enabled && build->recipe != s.enabled->build && !build->from_cache) return build->cost_s;
  return 0;
}

Step drop(const Proposal& p, const std::string& code, const std::string& why) {
  return emit("reverted", p.intent.id, Reverted{"", p.intent.id, code, why});
}

double value_log(const LegRecord* leg) { return std::log(leg->done->result->value); }

}  // namespace

std::optional<Step> screen(const Rules& rules, const SessionState& s) {
  const Proposal* waiting = nullptr;
  for (const Proposal& p : s.proposals)
    if (waits(rules, s, p)) { waiting = &p; break; }
  if (!waiting) return {};
  if (auto step = run_slot(s, "control 1", "a", s.incumbent)) return step;
  const LegRecord* before = find_slot(s, "control 1").leg;
  if (!before || !before->good()) return drop(*waiting, "no_evidence", "no clean control leg in this screening round");

  for (const Proposal& p : s.proposals) {
    if (!waits(rules, s, p)) continue;
    Candidate candidate = s.incumbent.with(p.intent.change);
    Slot slot = find_slot(s, p.intent.id);
    if (slot.leg && slot.leg->good()) continue;                     // waits for the second control
    if (slot.leg && slot.leg->failed()) return drop(p, "failed", slot.leg->done->failure->text());
    if (slot.attempts >= kMostAttempts) return drop(p, "no_evidence", "every screening leg was spoiled: " + slot.spoiled_by);
    if (searchable_s(s) < 3 * pair_cost_s(s) + quality_cost_s(s) + kShort * leg_cost_s(s)) return drop(p, "no_budget", "no time left to screen and compare it");
    if (auto refused = check_candidate(rules.pack, s, candidate))
      return drop(p, "illegal", refused->rule + ": " + refused->value);
    if (auto lacks = cannot_prepare(s, candidate)) return drop(p, lacks->evidence ? "failed" : "no_evidence", lacks->why);
    // A build whose own comparison cannot be paid afterwards is worth nothing.
    const double rest_s = searchable_s(s) - 3 * pair_cost_s(s) - quality_cost_s(s) - 3 * kShort * leg_cost_s(s);
    const double build_limit_s = std::min(kBuildShare * searchable_s(s), rest_s);
    if (!s.build(build_of(s, candidate)) && variant_build_s(s) > build_limit_s)
      return drop(p, "no_budget", "a build takes about " + std::to_string(static_cast<int>(variant_build_s(s))) + " s here");
    if (auto step = prepare(s, candidate, build_limit_s)) return step;
    if (auto step = run_slot(s, p.intent.id, "b", candidate)) return step;
  }
  if (auto step = run_slot(s, "control 2", "a", s.incumbent)) return step;
  const LegRecord* after = find_slot(s, "control 2").leg;
  double control = value_log(before);
  if (after && after->good()) control = 0.5 * (control + value_log(after));
  return emit("x-screened", waiting->intent.id,
              Json{{"proposal", waiting->intent.id}, {"log", value_log(find_slot(s, waiting->intent.id).leg) - control}});
}

}  // namespace hyperloom

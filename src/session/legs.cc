#include "session/legs.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "stats/sequential.h"

namespace hyperloom {

DoLeg plan_leg(const SessionState& s, const std::string& purpose, const std::string& group, const std::string& arm, int pair,
               const Candidate& candidate) {
  LegPlan plan{.id = "L" + std::to_string(s.legs.size() + 1), .purpose = purpose, .group = group, .arm = arm, .pair = pair};
  plan.candidate = candidate;
  plan.build = build_of(s, candidate);
  plan.seed = seed_from(s.session + "/" + group + "/" + std::to_string(pair));
  if (s.enabled) {
    plan.measured = s.enabled->leg_requests;
    plan.warmup = s.enabled->warmup_requests;
  }
  return {plan};
}

std::string build_of(const SessionState& s, const Candidate& candidate) {
  for (const Change& change : candidate.changes)
    if (change.kind == "build") return change.value;
  return s.enabled ? s.enabled->build : "";
}

namespace {

const Change* precision_of(const Candidate& candidate) {
  for (const Change& change : candidate.changes)
    if (change.kind == "precision") return &change;
  return nullptr;
}

}  // namespace

std::optional<Step> prepare(const SessionState& s, const Candidate& candidate, double limit_s) {
  std::string build = build_of(s, candidate);
  if (!s.build(build)) return DoBuild{build, limit_s};
  if (const Change* precision = precision_of(candidate)) {
    Candidate only = Candidate{}.with(*precision);
    if (!s.made_for(only)) return DoMake{only, limit_s};
  }
  return {};
}

std::optional<Unprepared> cannot_prepare(const SessionState& s, const Candidate& candidate) {
  std::string build = build_of(s, candidate);
  if (const BuildEvent* b = s.build(build); b && !b->ok)
    return Unprepared{!b->out_of_time, "build " + build + (b->out_of_time ? " " : " failed: ") + b->error};
  if (const Change* precision = precision_of(candidate))
    if (const MadeEvent* made = s.made_for(Candidate{}.with(*precision)); made && !made->ok)
      return Unprepared{!made->out_of_time, "weights " + precision->value + " could not be made: " + made->error};
  return {};
}

PairProgress pair_progress(const SessionState& s, const std::string& group, int pair) {
  PairProgress progress;
  for (const LegRecord& leg : s.legs) {
    if (leg.plan.group != group || leg.plan.pair != pair || leg.void_reason.empty()) continue;
    progress.attempt = std::max(progress.attempt, leg.plan.attempt + 1);
    progress.spoiled += !leg.interrupted();
  }
  for (const LegRecord& leg : s.legs) {
    if (leg.plan.group != group || leg.plan.pair != pair || leg.plan.attempt != progress.attempt || !leg.done) continue;
    (leg.plan.arm == "a" ? progress.a : progress.b) = &leg;
  }
  return progress;
}

std::optional<Step> next_pair_leg(const SessionState& s, const std::string& purpose, const std::string& group, int pair,
                                  const Candidate& a, const Candidate& b) {
  PairProgress progress = pair_progress(s, group, pair);
  if (progress.a && progress.b) return {};
  bool a_first = a_goes_first(s.session, group, pair);
  bool take_a = progress.a ? false : progress.b ? true : a_first;
  DoLeg leg = plan_leg(s, purpose, group, take_a ? "a" : "b", pair, take_a ? a : b);
  leg.plan.attempt = progress.attempt;
  return leg;
}

PairDone finished_pair(const SessionState&, const std::string& group, int pair, const PairProgress& p) {
  return {group, p.a->plan.id, p.b->plan.id, pair, std::log(p.b->done->result->value / p.a->done->result->value)};
}

}  // namespace hyperloom

#include <cmath>

#include "agent/built_in.h"
#include "policy/limits.h"

namespace hyperloom {
namespace {

struct Objection { std::string code, why; };

// Everything that a leg must be to count as evidence for `candidate`.
std::optional<Objection> object_to_leg(const Pack& pack, const SessionState& state, const LegRecord* leg,
                                       const std::string& id, const Candidate& candidate) {
  if (!leg || !leg->done) return Objection{"missing_leg", "leg " + id + " is not in the journal"};
  if (!leg->void_reason.empty() || !leg->done->result || !leg->done->result->void_reasons.empty())
    return Objection{"void_leg", "leg " + id + " is void and is no evidence"};
  if (!(leg->plan.candidate == candidate))
    return Objection{"wrong_candidate", "leg " + id + " ran " + leg->plan.candidate.text() + ", not " + candidate.text()};
  const LegResult& r = *leg->done->result;
  for (const Change& change : candidate.changes) {
    if (change.kind != "flag" || !pack.effective.count(change.knob)) continue;
    auto got = r.effective.find(change.knob);
    if (got == r.effective.end() || got->second != change.value)
      return Objection{"ignored_flag", "leg " + id + " ran with " + change.knob + " = " +
                                           (got == r.effective.end() ? "?" : got->second) + ", not " + change.value};
  }
  double again = objective_value(r.load, state.workload.objective);
  if (std::abs(std::log(again / r.value)) > 1e-6)
    return Objection{"value_mismatch", "leg " + id + "'s value does not follow from its figures"};
  return {};
}

}  // namespace

NoisePool pool_before(const SessionState& state, const std::string& comparison) {
  NoisePool pool = first_pool(state);
  for (const Comparison* c : state.decided_before(comparison)) pool.add_comparison(c->log_ratios());
  return pool;
}

CriticVerdict BuiltInCritic::review(const Pack& pack, const SessionState& state, const Comparison& c) const {
  CriticVerdict verdict{.comparison = c.intent.id};
  auto veto = [&](const std::string& code, const std::string& why) {
    verdict.code = code;
    verdict.why = why;
    return verdict;
  };
  std::vector<double> ratios;
  for (const PairDone& pair : c.pairs) {
    const LegRecord* a = state.leg(pair.leg_a);
    const LegRecord* b = state.leg(pair.leg_b);
    if (auto no = object_to_leg(pack, state, a, pair.leg_a, c.intent.a)) return veto(no->code, no->why);
    if (auto no = object_to_leg(pack, state, b, pair.leg_b, c.intent.b)) return veto(no->code, no->why);
    if (a->done->result->trace_sha256 != b->done->result->trace_sha256)
      return veto("unequal_traces", "legs " + pair.leg_a + " and " + pair.leg_b + " answered different requests");
    ratios.push_back(std::log(b->done->result->value / a->done->result->value));
    if (std::abs(ratios.back() - pair.log_ratio) > 1e-6)
      return veto("pair_mismatch", "pair " + std::to_string(pair.pair) + " does not follow from its legs");
  }
  if (ratios.empty()) return veto("no_pairs", "nothing was compared");
  const TestPlan plan = test_plan(state);
  Look again = deciding_look(pool_before(state, c.intent.id), ratios, plan);
  verdict.recomputed_log = again.raw;
  // A rescue of a missed limit stands on its guards, not on throughput.
  const LimitGuards guards = guard_limits(state, c, plan);
  const bool rescues = guards.rescues && again.raw > -again.s;
  if (c.decided->verdict == "faster" && !rescues && again.verdict != Verdict::Faster)
    return veto("not_reproduced", "recomputed from the legs the verdict is " + std::string(name_of(again.verdict)));
  if (!guards.all_pass) return veto("limit_unproven", "recomputed from the legs a latency limit is not proven");
  if (!c.quality) return veto("missing_quality", "no quality check is in the journal");
  if (!c.quality->report.held()) return veto("quality", c.quality->report.failures.front());
  if (state.exam && state.exam->on && !c.exam) return veto("missing_exam", "the candidate has not sat the exam");
  if (c.exam && !c.exam->report.held()) return veto("quality", c.exam->report.failures.front());
  const std::string& goal = state.workload.objective.maximize;
  bool throughput = goal != "ttft" && goal != "tpot" && goal != "e2e";   // the ceiling bounds throughput only
  if (throughput && !state.profiles.empty() && state.profiles.front().roofline.gain_ceiling > 0) {
    double ceiling = state.profiles.front().roofline.gain_ceiling;
    double mean_b = 0;
    for (const PairDone& pair : c.pairs) mean_b += std::log(state.leg(pair.leg_b)->done->result->value);
    double gain = std::exp(mean_b / static_cast<double>(c.pairs.size())) / state.stock_value();
    if (gain > ceiling)
      return veto("beyond_roofline", "more gain than the roofline allows: the work was not done as before");
  }
  verdict.sign = true;
  verdict.code = "signed";
  verdict.why = std::to_string(ratios.size()) + " pairs recomputed from raw legs, quality held";
  return verdict;
}

Roles built_in_roles() {
  return {std::make_unique<BuiltInPlanner>(), std::make_unique<BuiltInCritic>(), std::make_unique<BuiltInWatchdog>()};
}

}  // namespace hyperloom

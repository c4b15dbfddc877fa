// Events that hold deeds: legs, pairs, decisions, intents, phases.
#include <nlohmann/json.hpp>

#include "state/event_fields.h"
#include "state/events.h"

namespace hyperloom {
// The field lists are found by argument, so they may not lie in an unnamed namespace.

template <class Visit, Is<LegPlan> E>
void fields(Visit& visit, E& e) {
  visit.must("id", e.id);
  visit("why", e.why);
  visit.must("purpose", e.purpose);
  visit("group", e.group);
  visit("arm", e.arm);
  visit.unless(-1, "pair", e.pair);
  visit("attempt", e.attempt);
  visit("candidate", e.candidate);
  visit("build", e.build);
  visit("seed", e.seed);
  visit("measured", e.measured);
  visit("warmup", e.warmup);
  visit.unless(0, "clients", e.clients);
  visit.unless(0, "prompt_tokens", e.prompt_tokens);
  visit.unless(0, "output_tokens", e.output_tokens);
}

template <class Visit, Is<LegDone> E>
void fields(Visit& visit, E& e) {
  visit.must("id", e.id);
  visit("result", e.result);
  visit("failure", e.failure);
  visit("records_blob", e.records_blob);
  visit("kernels", e.kernels);
  visit("exam", e.exam);
  visit("cost_s", e.cost_s);
}

template <class Visit, Is<LegVoid> E>
void fields(Visit& visit, E& e) {
  visit.must("id", e.id);
  visit.must("reason", e.reason);
  visit("cost_s", e.cost_s);
  visit("neighbours", e.neighbours);
}

template <class Visit, Is<PairDone> E>
void fields(Visit& visit, E& e) {
  visit.must("comparison", e.comparison);
  visit.must("log_ratio", e.log_ratio);
  visit("leg_a", e.leg_a);
  visit("leg_b", e.leg_b);
  visit("pair", e.pair);
}

template <class Visit, Is<Look> E>
void fields(Visit& visit, E& e) {
  visit("n", e.n);
  visit("clip_limit", e.clip_limit);
  visit("s", e.s);
  visit("nu", e.nu);
  visit("mean", e.mean);
  visit("raw", e.raw);
  visit("p", e.p);
  visit("bound", e.bound);
  visit("chance", e.chance);
  visit("upper", e.upper);
  visit("s_own_over_pool", e.s_own_over_pool);
}

template <class Visit, Is<Decided> E>
void fields(Visit& visit, E& e) {
  visit.must("comparison", e.comparison);
  visit.must("verdict", e.verdict);
  visit("why", e.why);
  visit("look", e.look);
  visit("guards", e.guards);
}

template <class Visit, Is<QualityDone> E>
void fields(Visit& visit, E& e) {
  visit.must("comparison", e.comparison);
  visit.must("report", e.report);
}

template <class Visit, Is<ExamDone> E>
void fields(Visit& visit, E& e) {
  visit.must("comparison", e.comparison);
  visit.must("report", e.report);
}

template <class Visit, Is<ExamPlan> E>
void fields(Visit& visit, E& e) {
  visit.must("on", e.on);
  visit("notice", e.notice);
}

template <class Visit, Is<Intent> E>
void fields(Visit& visit, E& e) {
  visit.must("id", e.id);
  visit.must("kind", e.kind);
  visit("role", e.role);
  visit("phase", e.phase);
  visit.unless(Change{}, "change", e.change);
  visit("source", e.source);
  visit("proposal", e.proposal);
  // An empty stack is stock, not "absent".
  if (e.kind == "compare" || e.kind == "propose") visit("a", e.a);
  if (e.kind == "compare") visit("b", e.b);
  visit("predicted_log", e.predicted_log);
  visit("why", e.why);
}

template <class Visit, Is<Refused> E>
void fields(Visit& visit, E& e) {
  visit.must("intent", e.intent);
  visit.must("rule", e.rule);
  visit("value", e.value);
  visit("mend", e.mend);
}

template <class Visit, Is<CriticVerdict> E>
void fields(Visit& visit, E& e) {
  visit.must("comparison", e.comparison);
  visit.must("sign", e.sign);
  visit("code", e.code);
  visit("why", e.why);
  visit("recomputed_log", e.recomputed_log);
}

template <class Visit, Is<Kept> E>
void fields(Visit& visit, E& e) {
  visit.must("comparison", e.comparison);
  visit.must("incumbent", e.incumbent);
  visit("proposal", e.proposal);
  visit("stage", e.stage);
}

template <class Visit, Is<Reverted> E>
void fields(Visit& visit, E& e) {
  visit("comparison", e.comparison);
  visit("proposal", e.proposal);
  visit.must("code", e.code);
  visit("why", e.why);
}

template <class Visit, Is<PhaseEntered> E>
void fields(Visit& visit, E& e) {
  visit.must("phase", e.phase);
  visit("reason", e.reason);
  visit("cycle", e.cycle);
  visit("evidence", e.evidence);
}

template <class Visit, Is<Closed> E>
void fields(Visit& visit, E& e) {
  visit.must("result", e.result);
  visit("stop_reason", e.stop_reason);
  visit("provisional", e.provisional);
}

template <class Visit, Is<Stopped> E>
void fields(Visit& visit, E& e) {
  visit.must("reason", e.reason);
}

void to_json(Json& json, const Look& look) {
  write_event(json, look);
  json["verdict"] = name_of(look.verdict);
}

void from_json(const Json& json, Look& look) {
  read_event(json, "look", look);
  std::string name = name_of(look.verdict);
  FieldReader(json, "look")("verdict", name);
  for (const Verdict verdict :
       {Verdict::Continue, Verdict::Faster, Verdict::NotUseful, Verdict::Unresolvable}) {
    if (name == name_of(verdict)) {
      look.verdict = verdict;
      return;
    }
  }
  throw bad_input("journal entry body look, `verdict`: unknown word `" + name + "`",
                  "known: continue, faster, not_useful, unresolvable");
}

void to_json(Json& json, const LegDone& done) { write_event(json, done); }

void from_json(const Json& json, LegDone& done) {
  read_event(json, "leg.done", done);
  if (done.result.has_value() + done.failure.has_value() + done.exam.has_value() != 1) {
    throw bad_input("journal entry body leg.done " + done.id + ": needs one of `result`, `failure` and `exam`",
                    "read the journal with the hyperloom that wrote it");
  }
}

HYPERLOOM_EVENT(LegPlan, "leg.started")
HYPERLOOM_EVENT(LegVoid, "leg.void")
HYPERLOOM_EVENT(PairDone, "pair.done")
HYPERLOOM_EVENT(Decided, "comparison.decided")
HYPERLOOM_EVENT(QualityDone, "quality.done")
HYPERLOOM_EVENT(ExamDone, "exam.judged")
HYPERLOOM_EVENT(ExamPlan, "probe exam")
HYPERLOOM_EVENT(Intent, "intent")
HYPERLOOM_EVENT(Refused, "gate.refused")
HYPERLOOM_EVENT(CriticVerdict, "verdict")
HYPERLOOM_EVENT(Kept, "kept")
HYPERLOOM_EVENT(Reverted, "reverted")
HYPERLOOM_EVENT(PhaseEntered, "phase.entered")
HYPERLOOM_EVENT(Closed, "closed")
HYPERLOOM_EVENT(Stopped, "session.stopped")

}  // namespace hyperloom

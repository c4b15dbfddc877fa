// One comparison from its first pair to kept or reverted.
#include <algorithm>
#include <cmath>

#include "policy/limits.h"
#include "session/budget.h"
#include "session/exams.h"
#include "session/legs.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

std::string percent(double log_ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", std::expm1(log_ratio) * 100);
  return text;
}

Step decide(const Comparison& c, const std::string& verdict, const std::string& why, const Look& look = {},
            std::vector<std::string> guards = {}) {
  return emit("comparison.decided", c.intent.id, Decided{c.intent.id, verdict, why, look, std::move(guards)});
}

// The verdict on the pairs so far, or nothing when the next pair is wanted.
std::optional<Step> judge_pairs(const SessionState& s, const Comparison& c) {
  if (c.pairs.empty()) return {};
  TestPlan plan = test_plan(s);
  Look now = deciding_look(s.pool, c.log_ratios(), plan);
  bool last = static_cast<int>(c.pairs.size()) >= plan.max_pairs;
  LimitGuards guards = guard_limits(s, c, plan);
  if (guards.rescues && now.raw > -now.s)
    return decide(c, "faster", "meets a limit that the incumbent misses", now, guards.lines);
  if (now.verdict == Verdict::Faster) {
    if (guards.all_pass) return decide(c, "faster", percent(now.raw) + " over " + std::to_string(now.n) + " pairs", now, guards.lines);
    if (!last) return {};
    return decide(c, "limits_unmet", "faster, but a latency limit is not proven", now, guards.lines);
  }
  if (now.verdict == Verdict::Continue || (guards.may_rescue && !last)) return {};
  std::string why = now.verdict == Verdict::NotUseful
                        ? "at most " + percent(now.upper) + " at 95 %"
                        : "between nothing and " + percent(now.upper) + ": raise the token budget to resolve it";
  return decide(c, name_of(now.verdict), why, now, guards.lines);
}

std::optional<Step> next_pair(const SessionState& s, const Comparison& c) {
  int n = static_cast<int>(c.pairs.size());
  PairProgress progress = pair_progress(s, c.intent.id, n);
  if (progress.spoiled >= kMostAttempts) return decide(c, "abandoned", "every try at a pair was spoiled: no evidence");
  if (progress.b && progress.b->failed()) return decide(c, "failed", progress.b->done->failure->text());
  if (progress.a && progress.a->failed())
    return emit("leg.void", progress.a->plan.id, LegVoid{progress.a->plan.id, "the incumbent failed: " + progress.a->done->failure->text(), 0});
  if (progress.a && progress.b) return emit("pair.done", c.intent.id, finished_pair(s, c.intent.id, n, progress));
  double verdict_s = c.quality ? exam_reserve_s(s) : quality_cost_s(s);
  if (!progress.a && !progress.b && searchable_s(s) < pair_cost_s(s) + verdict_s)
    return decide(c, "abandoned", "the budget ended before a verdict");
  return next_pair_leg(s, "pair", c.intent.id, n, c.intent.a, c.intent.b);
}

Step revert(const Comparison& c, const std::string& code, const std::string& why) {
  return emit("reverted", c.intent.proposal, Reverted{c.intent.id, c.intent.proposal, code, why});
}

}  // namespace

std::optional<Step> drive(const Rules& rules, const SessionState& s, const Comparison& c) {
  const Proposal* p = s.proposal(c.intent.proposal);
  if (!p || p->status != ProposalStatus::Comparing || p->comparison != c.intent.id) return {};
  if (!c.decided) {
    if (auto lacks = cannot_prepare(s, c.intent.b)) return decide(c, lacks->evidence ? "failed" : "abandoned", lacks->why);
    if (auto step = prepare(s, c.intent.b, preparation_limit_s(s))) return *step;
    // A numeric change is asked for its quality after one pair: a wrong model costs no more pairs.
    if (c.intent.change.kind == "precision" && c.pairs.size() == 1) {
      if (!c.quality) return DoQuality{c.intent.id};
      if (!c.quality->report.held()) return decide(c, "abandoned", c.quality->report.failures.front());
    }
    if (auto step = judge_pairs(s, c)) return *step;
    return next_pair(s, c);
  }
  const std::string& verdict = c.decided->verdict;
  if (c.quality && !c.quality->report.held())
    return revert(c, c.quality->report.kl.no_evidence ? "no_evidence" : "quality", c.quality->report.failures.front());
  if (verdict == "failed") return revert(c, "failed", c.decided->why);
  if (verdict == "abandoned") return revert(c, "no_evidence", c.decided->why);
  if (verdict == "limits_unmet") return revert(c, "limits", c.decided->why);
  if (verdict != "faster") return revert(c, "not_faster", c.decided->why);
  if (!c.quality) return DoQuality{c.intent.id};
  if (auto step = exam_of(rules, s, c)) return *step;
  if (c.exam && !c.exam->report.held()) return revert(c, c.exam->report.no_evidence ? "no_evidence" : "quality", c.exam->report.failures.front());
  if (!c.critic) return emit("verdict", c.intent.id, rules.roles.critic->review(rules.pack, s, c));
  if (!c.critic->sign) return revert(c, "vetoed", c.critic->code + ": " + c.critic->why);
  std::string stage = s.phase == "prelude" ? "warm_replay" : s.phase;
  return emit("kept", c.intent.proposal, Kept{c.intent.id, c.intent.proposal, stage, c.intent.b});
}

}  // namespace hyperloom

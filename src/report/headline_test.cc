#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "report/findings.h"
#include "report/sample_state_for_test.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Findings findings_of(const SessionState& state) {
  const Findings findings = gather(sample_inputs(state));
  EXPECT_TRUE(findings.subline.empty() ||
              !std::ispunct(static_cast<unsigned char>(findings.subline[0])))
      << findings.subline;
  return findings;
}

// Closed with fresh pairs and a limit on ttft p95: stock has 344 ms there, the full stack 202 ms.
SessionState limited(double max_ms) {
  SessionState state = sample_state();
  state.workload.objective.limits = {{"ttft", 95, max_ms}};
  state.closed->result = "limits_unmet";
  return state;
}

TEST(Headline, LimitsThatTheMediansHoldAreSaidToFailByTheMean) {
  const Findings findings = findings_of(limited(400));
  EXPECT_EQ(findings.headline, "The full stack is not proven to keep the limits: keep stock");
  EXPECT_THAT(findings.subline, StartsWith("ttft p95 <= 400 ms: stock 344 ms, full stack 202 ms"));
  EXPECT_THAT(findings.subline, HasSubstr("by its mean over the fresh pairs"));
  EXPECT_THAT(findings.subline, HasSubstr("Full stack: 1.72x faster"));
  EXPECT_EQ(findings_of(limited(250)).headline, "The full stack is not proven to keep the limits");
}

TEST(Headline, LimitsMissedWithoutFreshPairsNameTheNearest) {
  SessionState state = limited(450);
  state.final_pairs.clear();
  const Findings findings = findings_of(state);
  EXPECT_EQ(findings.headline, "Limits not met, neither by stock nor by what was found");
  EXPECT_THAT(findings.subline, StartsWith("Nearest: "));
  EXPECT_THAT(findings.subline, HasSubstr("by the mean over its legs it misses the limit"));
  EXPECT_THAT(findings.subline, Not(HasSubstr("no fresh pairs")));
}

// Closed before any comparison: `good` stock legs, and `reason` to close.
SessionState early(int good, const std::string& reason, const std::string& evidence) {
  SampleSession session;
  sample_facts(session.state);
  for (int i = 0; i < good; ++i) session.leg("stock", "stock", "a", i, {}, 61);
  session.state.phases = {{"prelude", "opened", 1}, {"close", reason, 1, evidence}};
  session.state.phase_at_s = {0, 90};
  session.state.spent_s = 90;
  session.state.closed = Closed{"no_gain", reason, false};
  return session.state;
}

void fail(SessionState& state, const std::string& leg, const std::string& line) {
  LegDone& done = *state.legs[state.leg_index.at(leg)].done;
  done.result.reset();
  done.failure = Failure{.failure_class = "crashed", .id = "crashed", .line = line};
}

TEST(Headline, ABudgetThatIsTooSmallIsSaidSo) {
  const SessionState state = early(1, "budget_too_small",
                                   "this workload needs about 11 min 20 s here, the budget is 3 min");
  const Findings findings = findings_of(state);
  EXPECT_EQ(findings.headline, "The budget is too small for this workload");
  EXPECT_EQ(findings.subline,
            "This workload needs about 11 min 20 s here, the budget is 3 min. "
            "Nothing was compared with stock");
  EXPECT_THAT(render_html(sample_inputs(state)),
              HasSubstr("<td class=\"wrap\">budget too small: this workload needs about"));
  EXPECT_THAT(render_markdown(sample_inputs(state)),
              HasSubstr("stopped because: budget too small: this workload needs about"));
}

TEST(Headline, AHostThatNeverGotQuietIsSaidSo) {
  const Findings findings =
      findings_of(early(0, "host_never_quiet", "no stock leg without foreign load"));
  EXPECT_EQ(findings.headline, "This host never got quiet");
  EXPECT_THAT(findings.subline, StartsWith("No stock leg without foreign load"));
}

TEST(Headline, StockThatFailsShowsItsFailureAndItsLog) {
  SessionState state =
      early(2, "stock_keeps_failing", "the stock configuration failed under load");
  fail(state, "L2", "GGML_ASSERT(n_tokens > 0)");
  state.closed->result = "limits_unmet";  // none was measured
  const Findings findings = findings_of(state);
  EXPECT_EQ(findings.headline, "The stock configuration failed under load");
  EXPECT_THAT(findings.subline, StartsWith("The last time: crashed: GGML_ASSERT(n_tokens > 0)"));
  EXPECT_THAT(findings.subline, HasSubstr("logs/L2.log in the session's folder"));
}

TEST(Headline, AnEngineThatNeverAnsweredSaysWhatWasTriedLast) {
  SessionState state = early(1, "not_enabled", "portable: crashed: no such instruction");
  state.enabled.reset();
  state.stages.clear();
  state.legs[0].plan.purpose = "enable";
  fail(state, "L1", "no such instruction");
  state.closed->result = "not_enabled";
  Findings findings = findings_of(state);
  EXPECT_EQ(findings.headline, "The engine could not be made to answer");
  EXPECT_THAT(findings.subline, HasSubstr("The last try: portable: crashed: no such instruction"));
  EXPECT_THAT(findings.subline, HasSubstr("logs/L1.log"));
  state.builds[1].ok = false;
  state.builds[1].out_of_time = true;
  EXPECT_EQ(findings_of(state).headline, "The engine's build did not get done in its time");
}

TEST(Headline, AUsersCloseBeforeTheFirstAnswerIsNoFaultOfTheEngine) {
  SessionState state = early(0, "user_close", "asked by the user");
  state.enabled.reset();
  state.stages.clear();
  state.closed->result = "not_enabled";
  const Findings findings = findings_of(state);
  EXPECT_EQ(findings.headline, "Stopped before the engine had answered");
  EXPECT_THAT(findings.subline, Not(HasSubstr("No build")));
  EXPECT_THAT(render_html(sample_inputs(state)), Not(HasSubstr("No build served")));
}

TEST(Headline, NoGainSaysWhatWasTriedAndWhyItEnded) {
  SessionState state = sample_state();
  state.final_pairs.clear();
  state.kept_items.clear();
  state.closed->result = "no_gain";
  state.phases.back().evidence = "cycle 1 kept nothing";
  EXPECT_EQ(findings_of(state).subline,
            "Nothing that was tried beat the stock configuration beyond doubt. "
            "The search ended: cycle 1 kept nothing");
  state.kept_items = {kSampleQ8};
  EXPECT_THAT(findings_of(state).subline, StartsWith("1 change kept, each by its own pairs"));
  EXPECT_EQ(findings_of(early(3, "user_close", "asked by the user")).headline,
            "Closed before anything was compared");
}

// As the fold leaves it: the leg failed, and the close then set it aside.
void fail_full_stack(SessionState& state) {
  const std::string leg = state.final_pairs.back().leg_b;
  state.final_pairs.pop_back();
  fail(state, leg, "GGML_ASSERT(n_tokens > 0)");
  state.legs[state.leg_index.at(leg)].void_reason = "failed: crashed: GGML_ASSERT(n_tokens > 0)";
}

TEST(Headline, AFullStackThatFailedIsNoNeighboursDoing) {
  SessionState state = sample_state();
  const std::string leg = state.final_pairs.back().leg_b;
  fail_full_stack(state);
  state.closed->result = "no_gain";
  const Findings findings = findings_of(state);
  EXPECT_THAT(findings.subline, HasSubstr("The full stack failed in 1 leg of its own claim"));
  EXPECT_THAT(findings.subline, HasSubstr("logs/" + leg + ".log"));
  EXPECT_THAT(findings.unvalidated, testing::Contains(HasSubstr("GGML_ASSERT")));
  const std::string html = render_html(sample_inputs(state));
  const size_t spoiled = html.find("held against no candidate");
  const size_t failed = html.find("No neighbour's doing");
  ASSERT_LT(spoiled, failed);
  ASSERT_NE(failed, std::string::npos);
  EXPECT_THAT(html.substr(spoiled, failed - spoiled), Not(HasSubstr("GGML_ASSERT")));
  EXPECT_THAT(html.substr(failed), HasSubstr("GGML_ASSERT"));
}

TEST(Launch, SaysWhatItStarts) {
  SessionState state = sample_state();
  const std::string winner = "the winning configuration: weights Q8_0 + -np 4";
  EXPECT_THAT(render_html(sample_inputs(state)), HasSubstr("<p>Start " + winner));
  EXPECT_THAT(render_launch_script(sample_inputs(state)), HasSubstr("# Starts " + winner));
  state.closed->result = "no_gain";
  const std::string stock = "stock, since no better configuration is proven";
  EXPECT_THAT(render_html(sample_inputs(state)), HasSubstr("<p>Start " + stock));
  EXPECT_THAT(render_html(sample_inputs(state)), Not(HasSubstr("winning")));
  EXPECT_THAT(render_markdown(sample_inputs(state)), HasSubstr("This is " + stock));
  EXPECT_THAT(render_launch_script(sample_inputs(state)), HasSubstr("# Starts " + stock));
  const SessionState open = sample_searched().state;
  ReportInputs provisional = sample_inputs(open);
  provisional.provisional = true;
  EXPECT_THAT(render_html(provisional), HasSubstr("what was kept so far: weights Q8_0 + -np 4"));
}

}  // namespace
}  // namespace hyperloom

#include "load/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "load/tally.h"

namespace hyperloom {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double kBase = 1000;

std::vector<Json> lines_of(const std::string& name) {
  std::ifstream in(std::string(HYPERLOOM_CASES) + "/" + name);
  EXPECT_TRUE(in) << name;
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

// A streamed request: first token at `first`, then one token each `gap` seconds.
RequestRecord request(double start, double first, int tokens, double gap) {
  RequestRecord r;
  r.intended_s = r.sent_s = start;
  r.first_token_s = first;
  for (int i = 0; i < tokens; ++i) r.marks.push_back({first + i * gap, i + 1});
  r.last_token_s = r.end_s = first + (tokens - 1) * gap;
  r.output_tokens = tokens;
  r.counted_chunks = tokens;
  r.prompt_tokens = 10;
  r.state = RequestState::Completed;
  r.finish_reason = "length";
  r.text = "The river is wide.";
  return r;
}

TEST(Metrics, B06CutRequestsKeepTheirTokensAndCensorThePercentiles) {
  std::vector<RequestRecord> records;
  for (const Json& line : lines_of("b06-in-flight.jsonl")) {
    RequestRecord r;
    r.intended_s = r.sent_s = kBase + line["start_s"].get<double>();
    const bool cut = line["state"] == "cut_at_end";
    r.end_s = cut ? kBase + 60 : kBase + line["end_s"].get<double>();
    r.state = cut ? RequestState::CutOff : RequestState::Completed;
    r.output_tokens = line["out_tokens_done"].get<int>();
    r.counted_chunks = r.output_tokens;
    records.push_back(r);
  }
  const LoadSummary s = summarise(records, kBase, kBase + 60, {});
  EXPECT_DOUBLE_EQ(s.window_s, 60);
  EXPECT_EQ(s.completed, 7);
  EXPECT_EQ(s.cut_off, 3);
  EXPECT_EQ(s.failed, 0);
  EXPECT_NEAR(s.output_tok_s, 24.1667, 1e-4);
  EXPECT_TRUE(s.censored);
  EXPECT_THAT(s.warnings, Contains(HasSubstr("censored")));
}

TEST(Metrics, B07ColdFirstWaveIsFlagged) {
  std::vector<RequestRecord> all, rest;
  for (const Json& line : lines_of("b07-cold-wave.jsonl")) {
    const double start = kBase + line["start_ms"].get<double>() / 1e3;
    const RequestRecord r = request(start, start + line["ttft_ms"].get<double>() / 1e3, 2, 0.01);
    all.push_back(r);
    if (line["start_ms"].get<double>() > 0) rest.push_back(r);
  }
  const LoadSummary s = summarise(all, kBase, kBase + 1000, {});
  EXPECT_NEAR(s.ttft_ms.p50, 1026.3, 0.05);
  EXPECT_NEAR(s.ttft_ms.p95, 47822.2, 0.05);
  EXPECT_THAT(s.warnings, Contains(HasSubstr("cold first wave: the first 10 requests")));
  const LoadSummary warm = summarise(rest, kBase, kBase + 1000, {});
  EXPECT_NEAR(warm.ttft_ms.p50, 982.8, 0.05);
  EXPECT_NEAR(warm.ttft_ms.p95, 1339.5, 0.05);
  EXPECT_THAT(warm.warnings, IsEmpty());
}

TEST(Metrics, OnlyTokensInsideTheWindowCount) {
  // Tokens at 0, 1, ... 9 s; the window takes in those after 2.5 s up to 6.5 s, the border ones in part.
  const std::vector<RequestRecord> records = {request(kBase - 1, kBase, 10, 1)};
  const LoadSummary s = summarise(records, kBase + 2.5, kBase + 6.5, {});
  EXPECT_NEAR(s.output_tokens, 4, 1e-9);
  EXPECT_NEAR(s.output_tok_s, 1, 1e-9);
  EXPECT_NEAR(s.prompt_tokens, 0, 1e-9);
  EXPECT_NEAR(s.requests_s, 0.4 / 4, 1e-9);   // 4 of its 10 s
  EXPECT_EQ(s.ttft_ms.count, 0);              // due before the window: not in the sample
  EXPECT_EQ(s.completed, 1);
}

TEST(Metrics, PromptTokensSpreadUpToTheFirstToken) {
  const std::vector<RequestRecord> records = {request(kBase, kBase + 4, 2, 1)};
  EXPECT_NEAR(summarise(records, kBase + 3, kBase + 10, {}).prompt_tokens, 2.5, 1e-9);
}

TEST(Metrics, FailedAndTimedOutRequestsGiveNoThroughputAndNoLatency) {
  RequestRecord failed = request(kBase, kBase + 0.001, 50, 0.001);
  failed.state = RequestState::Failed;
  failed.fail_kind = "error_event_in_stream";
  RequestRecord late = request(kBase, kBase + 1, 5, 1);
  late.state = RequestState::TimedOut;
  late.fail_kind = "timeout";
  const LoadSummary s = summarise({failed, late, request(kBase, kBase + 1, 5, 1)}, kBase, kBase + 10, {});
  EXPECT_EQ(s.failed, 1);
  EXPECT_EQ(s.timed_out, 1);
  EXPECT_EQ(s.completed, 1);
  EXPECT_DOUBLE_EQ(s.output_tokens, 5);
  EXPECT_EQ(s.ttft_ms.count, 1);
  EXPECT_DOUBLE_EQ(s.ttft_ms.p50, 1000);
  EXPECT_TRUE(s.censored);   // a timed-out request is a long one
  EXPECT_EQ(s.fail_kinds, (std::map<std::string, int>{{"error_event_in_stream", 1}, {"timeout", 1}}));
}

TEST(Metrics, WarmUpFailuresAreToldButNotCounted) {
  RequestRecord failed = request(kBase, kBase + 1, 2, 1);
  failed.state = RequestState::Failed;
  const LoadSummary s = summarise({failed, request(kBase + 5, kBase + 6, 5, 1)}, kBase + 4, kBase + 20, {});
  EXPECT_EQ(s.failed, 0);
  EXPECT_THAT(s.warnings, Contains("1 warm-up requests failed"));
}

TEST(Metrics, CutRequestsWithoutUsageGetTheTokensPerEventOfTheOthers) {
  RequestRecord done = request(kBase, kBase + 1, 5, 1);
  done.output_tokens = 15;   // three a event
  for (TokenMark& mark : done.marks) mark.tokens *= 3;
  RequestRecord cut = request(kBase, kBase + 1, 4, 1);
  cut.state = RequestState::CutOff;
  cut.output_tokens = -1;
  const LoadSummary s = summarise({done, cut}, kBase, kBase + 10, {});
  EXPECT_DOUBLE_EQ(s.output_tokens, 15 + 12);
  EXPECT_FALSE(s.usage_missing);
}

TEST(Metrics, MissingUsageIsSaid) {
  RequestRecord r = request(kBase, kBase + 1, 5, 1);
  r.output_tokens = -1;
  const LoadSummary s = summarise({r}, kBase, kBase + 20, {});
  EXPECT_TRUE(s.usage_missing);
  EXPECT_DOUBLE_EQ(s.output_tokens, 5);
  EXPECT_THAT(s.warnings, Contains(HasSubstr("usage")));
}

TEST(Metrics, GoodputCountsRequestsWithinAllLimits) {
  const std::vector<RequestRecord> records = {request(kBase, kBase + 1, 5, 0.1), request(kBase, kBase + 1, 5, 0.9),
                                              request(kBase, kBase + 3, 5, 0.1)};
  const LoadSummary s =
      summarise(records, kBase, kBase + 10, {{"ttft", 90, 2000}, {"tpot", 90, 500}, {"itl", 99, 500}});
  EXPECT_NEAR(s.requests_s, 0.3, 1e-9);
  EXPECT_NEAR(s.goodput_rps, 0.1, 1e-9);
}

TEST(Metrics, LateSendingBlamesTheClient) {
  std::vector<RequestRecord> records;
  for (int i = 0; i < 10; ++i) {
    records.push_back(request(kBase + i, kBase + i + 0.2, 5, 0.01));
    records.back().sent_s += 0.15;
  }
  const LoadSummary s = summarise(records, kBase, kBase + 20, {});
  EXPECT_NEAR(s.send_lateness_ms.p50, 150, 1e-6);
  EXPECT_NEAR(s.ttft_ms.p50, 200, 1e-6);   // from the intended time: lateness is not hidden
  EXPECT_THAT(s.warnings, Contains(HasSubstr("client was the bottleneck")));
}

TEST(Metrics, OddUsageResentRequestsAndACachedPromptAreSaid) {
  std::vector<RequestRecord> records(8, request(kBase + 1, kBase + 1.1, 5, 0.01));
  records[0].odd_usage = true;
  records[1].retries = 1;
  for (RequestRecord& r : records) r.cached_tokens = 5;   // of 10
  const LoadSummary s = summarise(records, kBase, kBase + 20, {});
  EXPECT_EQ(s.odd_usage, 1);
  EXPECT_DOUBLE_EQ(s.cached_prompt_share, 0.5);
  EXPECT_THAT(s.warnings, Contains(HasSubstr("ran backwards, were negative or absurd in 1 answers")));
  EXPECT_THAT(s.warnings, Contains(HasSubstr("1 requests were sent again")));
  EXPECT_THAT(s.warnings, Contains(HasSubstr("took 50 % of the prompt tokens from its cache")));
  records = std::vector<RequestRecord>(8, request(kBase + 1, kBase + 1.1, 5, 0.01));
  EXPECT_THAT(summarise(records, kBase, kBase + 20, {}).warnings, IsEmpty());
}

TEST(Metrics, TooShortAWindowIsSaid) {
  const LoadSummary s = summarise({request(kBase, kBase + 5, 5, 1)}, kBase, kBase + 9, {});
  EXPECT_THAT(s.warnings, Contains(HasSubstr("too short")));
}

TEST(Metrics, NothingAtAllIsNoDivisionByZero) {
  const LoadSummary s = summarise({}, kBase, kBase, {});
  EXPECT_EQ(s.output_tok_s, 0);
  EXPECT_EQ(limit_value_ms(s, {"ttft", 90, 1}), -1);
  EXPECT_EQ(objective_value(s, {"ttft"}), 0);
}

TEST(Metrics, ObjectiveIsAlwaysMoreIsBetter) {
  LoadSummary s;
  s.output_tok_s = 10, s.total_tok_s = 20, s.requests_s = 3;
  s.ttft_ms = {60, 50, 90, 95, 99, 7};
  EXPECT_DOUBLE_EQ(objective_value(s, {"output_tok_s"}), 10);
  EXPECT_DOUBLE_EQ(objective_value(s, {"total_tok_s"}), 20);
  EXPECT_DOUBLE_EQ(objective_value(s, {"requests_s"}), 3);
  EXPECT_DOUBLE_EQ(objective_value(s, {"ttft"}), 20);
  EXPECT_EQ(objective_value(s, {"tpot"}), 0);   // absent
  EXPECT_EQ(objective_unit({"total_tok_s"}), "tok/s");
  EXPECT_DOUBLE_EQ(limit_value_ms(s, {"ttft", 90, 0}), 90);
  EXPECT_DOUBLE_EQ(limit_value_ms(s, {"ttft", 91, 0}), 95);
  EXPECT_DOUBLE_EQ(limit_value_ms(s, {"ttft", 99, 0}), 99);
  EXPECT_DOUBLE_EQ(limit_value_ms(s, {"ttft", 99.9, 0}), -1);
}

TEST(Metrics, SummaryGoesThroughJsonUnchanged) {
  RequestRecord bad = request(kBase, kBase + 1, 3, 1);
  bad.state = RequestState::Failed;
  bad.fail_kind = "http_500";
  const LoadSummary s =
      summarise({request(kBase, kBase + 1, 5, 1), bad, request(kBase, kBase + 2, 9, 0.5)}, kBase, kBase + 8, {});
  const Json once = s;
  EXPECT_EQ(Json(once.get<LoadSummary>()), once);
  EXPECT_EQ(once["fail_kinds"]["http_500"], 1);
}

TEST(Metrics, EmptyAnswersAreCounted) {
  RequestRecord blank = request(kBase, kBase + 1, 16, 0.01), tool = blank;
  blank.text = "                ";
  tool.text = "";
  tool.finish_reason = "tool_calls";
  EXPECT_DOUBLE_EQ(summarise({blank, tool}, kBase, kBase + 9, {}).empty, 0.5);
}

std::string times(const std::string& part, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += part;
  return all;
}

TEST(Repetition, LoopsAreFound) {
  EXPECT_TRUE(looks_repetitive(times("!", 64)));
  EXPECT_TRUE(looks_repetitive(times(" the cat sat on the mat.", 12)));
  EXPECT_TRUE(looks_repetitive("Sure, here is the answer: " + times("and then we go on ", 10) + "and th"));
  std::string drifting;
  for (int i = 0; i < 60; ++i) drifting += "the answer is yes and the answer is yes and item " + std::to_string(i) + " ";
  EXPECT_TRUE(looks_repetitive(drifting));
  EXPECT_TRUE(looks_repetitive(times("\xE6\x95\xB0", 30)));
}

TEST(Repetition, OrdinaryTextIsNot) {
  EXPECT_FALSE(looks_repetitive(""));
  EXPECT_FALSE(looks_repetitive("Yes."));
  EXPECT_FALSE(looks_repetitive("ha ha ha"));
  EXPECT_FALSE(looks_repetitive(
      "A river begins where rain gathers on high ground. It cuts a bed through soft stone, slows on the plain, and "
      "leaves sand at its mouth. Towns grew beside it because boats were cheaper than carts, and mills used its fall. "
      "Floods came in spring, when snow melted faster than the ground could drink, so people built walls and moved "
      "their barns uphill. Later, dams held the water back for dry months and turned it into light."));
  EXPECT_FALSE(looks_repetitive("Here is the table you asked for, with one row a city and the totals last:\n" +
                                times("-", 40)));
}

TEST(Repetition, LongTextIsReadInLinearTime) { EXPECT_TRUE(looks_repetitive(times("ab", 1 << 20))); }

TEST(LimitCounts, SharesByNearestRankWithFailuresAsTheSlowest) {
  const std::vector<Limit> limits = {{"ttft", 90, 100}, {"e2e", 50, 1000}, {"itl", 99, 20}};
  LoadTally tally(limits);
  for (int i = 0; i < 9; ++i) tally.add(request(kBase + i, kBase + i + 0.05, 11, 0.01), kBase, kBase + 60);
  tally.add(request(kBase + 9, kBase + 9.2, 11, 0.2), kBase, kBase + 60);     // slow in all three
  tally.add(request(kBase - 5, kBase - 1, 11, 0.2), kBase, kBase + 60);       // due before the window
  std::vector<LimitCount> counts = tally.limit_counts();
  EXPECT_EQ(counts[0].judged, 10);
  EXPECT_EQ(counts[0].over, 1);
  EXPECT_TRUE(counts[0].met(limits[0]));
  EXPECT_TRUE(counts[1].met(limits[1]));
  EXPECT_EQ(counts[2].judged, 100);                                           // tokens, without the first of each
  EXPECT_EQ(counts[2].over, 10);
  EXPECT_FALSE(counts[2].met(limits[2]));

  RequestRecord failed = request(kBase + 10, 0, 0, 0);
  failed.state = RequestState::TimedOut;
  tally.add(failed, kBase, kBase + 60);
  RequestRecord cut = failed;
  cut.state = RequestState::CutOff;
  tally.add(cut, kBase, kBase + 60);
  counts = tally.limit_counts();
  EXPECT_EQ(counts[0].judged, 11);
  EXPECT_EQ(counts[0].over, 2);
  EXPECT_FALSE(counts[0].met(limits[0]));
  EXPECT_EQ(counts[2].judged, 110);                                           // as many tokens as the others had
  EXPECT_EQ(counts[2].over, 20);
}

TEST(LimitCounts, NothingSeenMeetsNothing) {
  const std::vector<Limit> limits = {{"ttft", 50, 100}};
  EXPECT_FALSE(LoadTally(limits).limit_counts()[0].met(limits[0]));
}

}  // namespace
}  // namespace hyperloom

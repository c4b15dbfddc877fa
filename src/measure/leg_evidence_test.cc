#include "measure/leg_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "measure/leg.h"

namespace hyperloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LoadResult load_of(int completed, int failed, int timed_out) {
  LoadResult load;
  load.summary.completed = completed;
  load.summary.failed = failed;
  load.summary.timed_out = timed_out;
  load.summary.window_s = 10;
  if (failed > 0) load.summary.fail_kinds["http_500"] = failed;
  if (timed_out > 0) load.summary.fail_kinds["timeout"] = timed_out;
  return load;
}

TEST(LoadFailure, MoreThanTwoPercentOfTheEndedRequests) {
  const Traffic traffic;
  EXPECT_FALSE(load_failure(load_of(100, 0, 0), traffic, 5));
  EXPECT_FALSE(load_failure(load_of(98, 1, 1), traffic, 5));
  const auto failed = load_failure(load_of(97, 2, 1), traffic, 5);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->failure_class, "failed_requests");
  EXPECT_THAT(failed->line, HasSubstr("3 of 100 requests failed under load, at most 2 % may (2 http_500, 1 timeout)"));
}

TEST(LoadFailure, ShowsTheFirstFailuresOwnWords) {
  LoadResult load = load_of(1, 1, 0);
  load.records.resize(2);
  load.records[1].state = RequestState::Failed;
  load.records[1].fail_kind = "http_500";
  load.records[1].fail_text = "context too small\n";
  EXPECT_THAT(load_failure(load, {}, 5)->line, HasSubstr("; first: http_500: context too small"));
}

TEST(LoadFailure, EmptyAnswersOfFixedLengthAreMissing) {
  LoadResult load = load_of(4, 0, 0);
  load.records.resize(4);
  for (RequestRecord& r : load.records) r.state = RequestState::Completed, r.output_tokens = 8, r.end_s = 1;
  Traffic traffic;
  EXPECT_FALSE(load_failure(load, traffic, 5));
  load.records[2].output_tokens = 0;
  EXPECT_THAT(load_failure(load, traffic, 5)->line, HasSubstr("1 empty_answer"));
  traffic.ignore_eos = false;   // then a model may well say nothing; quality compares the share with stock's
  EXPECT_FALSE(load_failure(load, traffic, 5));
}

TEST(LoadFailure, RequestsThatHangAreNeverAnswered) {
  LoadResult load = load_of(8, 0, 0);
  load.summary.e2e_ms.p99 = 3000;
  load.records.resize(3);
  for (RequestRecord& r : load.records) r.sent_s = 100, r.end_s = 111;   // cut off, within 4 x 3 s
  load.records[2].sent_s = 0;                                           // never sent
  EXPECT_FALSE(load_failure(load, {}, 5));
  load.records[0].end_s = 113;
  const auto hung = load_failure(load, {}, 5);
  ASSERT_TRUE(hung);
  EXPECT_THAT(hung->line, HasSubstr("1 of 9 requests failed under load, at most 2 % may (1 never_answered)"));
  load.summary.e2e_ms.p99 = 100;   // 10 s at least
  load.records[0].end_s = load.records[1].end_s = 109;
  EXPECT_FALSE(load_failure(load, {}, 5));
}

TEST(LoadFailure, NothingToMeasure) {
  EXPECT_EQ(load_failure(load_of(0, 0, 0), {}, 5)->failure_class, "no_answers");
  EXPECT_EQ(load_failure(load_of(5, 0, 0), {}, 0)->failure_class, "no_answers");
}

TEST(VoidReasons, NameTheCulprit) {
  LoadResult load = load_of(10, 0, 0);
  EXPECT_THAT(void_reasons(load, {}, {}), IsEmpty());
  load.summary.window_s = 1;
  load.loop_delay_ms = 49;
  EXPECT_THAT(void_reasons(load, {}, {}), IsEmpty());
  load.loop_delay_ms = 51;
  EXPECT_THAT(void_reasons(load, {}, {}), ElementsAre(HasSubstr("stood still for 51 ms, limit 50 ms")));
  load.summary.window_s = 60;   // the same stall weighs less in a longer window
  EXPECT_THAT(void_reasons(load, {}, {}), IsEmpty());
  load.summary.send_lateness_ms.p99 = 80;
  EXPECT_THAT(void_reasons(load, {}, {}), ElementsAre(HasSubstr("80 ms late (p99)")));
  load.summary.send_lateness_ms.p99 = 0;
  load.stopped = true;
  EXPECT_THAT(void_reasons(load, {}, {}), ElementsAre(HasSubstr("stopped")));
  load.stopped = false;
  Neighbours busy;
  busy.foreign_cpu = 0.9;
  EXPECT_EQ(void_reasons(load, busy, {}), pollution(busy, {}));
  EXPECT_EQ(void_reasons(load, busy, {}).size(), 1u);
}

TEST(CounterDifferences, LeaveOutWhatFellOrIsMissing) {
  const auto d = counter_differences({{"tokens", 10}, {"running", 3}, {"gone", 1}}, {{"tokens", 25}, {"running", 0}, {"new", 4}});
  EXPECT_EQ(d, (std::map<std::string, double>{{"tokens", 15}}));
  const char* start = "process_start_time_seconds";
  EXPECT_EQ(counter_differences({{"tokens", 10}, {start, 7}}, {{"tokens", 25}, {start, 7}}), d);
  EXPECT_TRUE(counter_differences({{"tokens", 10}, {start, 7}}, {{"tokens", 25}, {start, 99}}).empty());
}

RequestRecord answer(int id, const std::string& text, RequestState state = RequestState::Completed) {
  RequestRecord r;
  r.id = id;
  r.state = state;
  r.text = text;
  return r;
}

TEST(AnswersSha256, DependsOnTextsInTraceOrderOnly) {
  const std::string hash = answers_sha256({answer(0, "ab"), answer(1, "c")});
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(hash, answers_sha256({answer(1, "c"), answer(0, "ab"), answer(2, "x", RequestState::CutOff)}));
  EXPECT_NE(hash, answers_sha256({answer(0, "a"), answer(1, "bc")}));
  EXPECT_NE(hash, answers_sha256({answer(0, "c"), answer(1, "ab")}));
}

TEST(RecordsJsonl, BrokenUtf8DoesNotLoseTheRecord) {
  const std::string jsonl = records_jsonl({answer(0, "a\xff"), answer(1, "b\nc")});
  const auto lines = split(jsonl, '\n');
  ASSERT_EQ(lines.size(), 3u);   // two and the empty rest
  EXPECT_EQ(Json::parse(lines[1]).at("text"), "b\nc");
  EXPECT_EQ(Json::parse(lines[0]).at("text"), "a\xEF\xBF\xBD");
}

TEST(LegResult, SurvivesJson) {
  LegResult leg;
  leg.value = 88.5;
  leg.trace_sha256 = "t";
  leg.load = load_of(10, 1, 0).summary;
  leg.neighbours.foreign_cpu = 0.02;
  leg.effective = {{"-np", "8"}};
  leg.metrics = {{"output_tokens", 640}};
  leg.boot_s = 1.5;
  leg.cost_s = 30;
  leg.peak_rss_bytes = 400'000'000;
  leg.forced_stop = true;
  leg.answers_sha256 = "a";
  leg.void_reasons = {"stopped"};
  leg.records_jsonl = "bulk";
  const Json json = leg;
  EXPECT_FALSE(json.contains("records_jsonl"));
  EXPECT_EQ(Json(json.get<LegResult>()), json);
  EXPECT_EQ(json.get<LegResult>().load.failed, 1);
}

}  // namespace
}  // namespace hyperloom

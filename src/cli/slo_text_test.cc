#include "cli/slo_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hyperloom {
namespace {

using testing::HasSubstr;


SloRun run_at(double rate, bool met, double ttft_ms) {
  SloRun run{.rate_rps = rate, .requests = 200, .warmup = 50, .met = met};
  run.summary.ttft_ms = {.mean = ttft_ms, .p50 = ttft_ms, .p90 = ttft_ms, .p95 = ttft_ms, .p99 = ttft_ms, .count = 200};
  run.summary.completed = 200;
  run.counts = {{200, met ? 0.0 : 9.0}};
  return run;
}

SloSearch search_with(RateAnswer answer) {
  SloSearch search{.url = "http://h:1", .model = "m", .limits = {{"ttft", 99, 500}}};
  search.runs = {run_at(0, true, 40), run_at(2, true, 210), run_at(4, false, 900), run_at(2, true, 220)};
  search.answer = answer;
  return search;
}

TEST(SloText, EachEndIsSaidPlainly) {
  EXPECT_EQ(answer_text(search_with({RateEnd::Found, 2, 2.5, 2.24})),
            "meets ttft p99 <= 500 ms at 2.00 requests/s and misses at 2.50 requests/s: proven at 95 %, likeliest up to 2.24 requests/s");
  EXPECT_THAT(answer_text(search_with({RateEnd::Found, 0, 0.1, 0})), HasSubstr("with one request at a time only and misses at 0.100 requests/s"));
  EXPECT_THAT(answer_text(search_with({RateEnd::Unlimited, 90, {}, 90})), HasSubstr("at 90.0 requests/s, the most that this client sends"));
  EXPECT_THAT(answer_text(search_with({RateEnd::Unresolved, 2, {}, 3})), HasSubstr("unresolved: meets ttft p99 <= 500 ms at 2.00"));
  EXPECT_THAT(answer_text(search_with({RateEnd::Unresolved, {}, 4, 3})), HasSubstr("of no rate it is proven that it meets"));
  EXPECT_THAT(answer_text(search_with({RateEnd::Unresolved, {}, {}, 3})), HasSubstr("most runs speak for 3.00 requests/s"));
}

TEST(SloText, ALimitThatNoRateMeetsIsSaidWithTheNearest) {
  SloSearch search = search_with({RateEnd::NoRate, {}, 0, 0});
  search.runs = {run_at(0, false, 900), run_at(0, false, 620), run_at(0, false, 700)};
  EXPECT_THAT(answer_text(search), HasSubstr("no rate meets ttft p99 <= 500 ms"));
  EXPECT_THAT(answer_text(search), HasSubstr("the nearest was ttft p99 620.0 ms of 500"));
  search.runs.clear();
  EXPECT_THAT(answer_text(search), HasSubstr("no request was answered"));
}

TEST(SloText, OneRowARateAndSpoiledRunsDoNotCount) {
  SloSearch search = search_with({RateEnd::Found, 2, 4, 3});
  search.runs.push_back(run_at(4, false, 100));
  search.runs.back().spoiled = true;
  search.runs.back().why = "our own lateness: requests left 80 ms late";
  const std::string table = slo_table(search);
  EXPECT_THAT(table, HasSubstr("    alone       1/1      40.0"));
  EXPECT_THAT(table, HasSubstr("    2.000       2/2     220.0"));
  EXPECT_THAT(table, HasSubstr("    4.000       0/1     900.0"));
  EXPECT_THAT(slo_markdown(search), HasSubstr("| 4.000 | 0/1 | 900.0 |"));
  EXPECT_THAT(run_text(search, search.runs.back()), HasSubstr("no evidence, repeated"));
  const Json json = to_json_value(search);
  EXPECT_EQ(json["answer"]["meets_rps"], 2);
  EXPECT_EQ(json["answer"]["end"], "found");
  EXPECT_EQ(json["runs"].size(), 5u);
  EXPECT_FALSE(json["runs"][4].contains("met"));
  EXPECT_EQ(json["runs"][2]["met"], false);
  EXPECT_EQ(json["runs"][2]["over"][0]["over"], 9);
}

TEST(SloText, WarningsOfTheRunsAreCountedNotRepeated) {
  SloSearch search = search_with({RateEnd::Found, 2, 4, 3});
  for (SloRun& run : search.runs) run.summary.warnings = {"client was the bottleneck: it kept one core busy"};
  search.stopped = "stopped: the server answers no more";
  EXPECT_THAT(slo_table(search), HasSubstr("warning in 4 of 4 runs: client was the bottleneck\n"));
  EXPECT_THAT(slo_table(search), HasSubstr("stopped: the server answers no more\n"));
}

}  // namespace
}  // namespace hyperloom

#include "cli/comparison_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace hyperloom {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ComparedCommands three_pairs() {
  ComparedCommands r;
  r.alpha = 0.04, r.plan.alpha_k = 0.01;
  r.plan.useful_gain = std::log1p(0.005);
  for (double b : {104.0, 105.0, 106.0}) r.pairs.push_back({.a = 100, .b = b, .ttft_a_ms = 10, .ttft_b_ms = 8});
  r.look.n = 3;
  r.pair_sd_log = 0.01;
  r.pool_df = 3;
  r.leg = {.requests = 32, .warmup = 4, .window_s = 5, .boot_a_s = 1, .boot_b_s = 2};
  return r;
}

TEST(ComparisonText, FasterNamesIntervalAndItsBias) {
  ComparedCommands r = three_pairs();
  r.verdict = "faster";
  const std::string text = to_text(r);
  EXPECT_TRUE(has(text, "faster: B is proven faster than A")) << text;
  EXPECT_TRUE(has(text, "1.050 [1.02")) << text;
  EXPECT_TRUE(has(text, "overstate")) << text;
  EXPECT_TRUE(has(text, "A 10.0 ms, B 8.0 ms")) << text;
  const Json json = to_json_value(r);
  EXPECT_EQ(json["verdict"], "faster");
  EXPECT_EQ(json["alpha"], 0.04);
  EXPECT_TRUE(has(text, "wrong \"faster\": 0.04)")) << text;
  EXPECT_EQ(json["pairs"].size(), 3u);
  EXPECT_LT(json["ratio"]["low"], json["ratio"]["high"]);
}

TEST(ComparisonText, UnresolvableSaysWhatWouldSettleIt) {
  ComparedCommands r = three_pairs();
  r.verdict = "unresolvable";
  EXPECT_TRUE(has(to_text(r), "--requests 128"));
  r.why_not = "this machine did not get quiet";
  EXPECT_TRUE(has(to_text(r), "unresolvable: this machine"));
  EXPECT_FALSE(has(to_text(r), "to settle"));
}

TEST(ComparisonText, BDoesNotRun) {
  ComparedCommands r;
  r.verdict = "b_does_not_run";
  r.b_failure = "bad_flag: --nonsense";
  EXPECT_EQ(to_text(r), "verdict      B does not run: bad_flag: --nonsense\n");
  EXPECT_FALSE(to_json_value(r).contains("ratio"));
}

TEST(ComparisonText, OnePairHasNoInterval) {
  ComparedCommands r = three_pairs();
  r.pairs.resize(1);
  r.verdict = "interrupted";
  EXPECT_TRUE(has(to_text(r), "no interval"));
  EXPECT_FALSE(to_json_value(r).contains("ratio"));
}

TEST(ComparisonText, TwoServersAreNeverCalledFaster) {
  ComparedServers r;
  r.pairs = three_pairs().pairs;
  r.same_host = true;
  const std::string text = to_text(r) + to_json_value(r).dump();
  EXPECT_FALSE(has(text, "faster")) << text;
  EXPECT_TRUE(has(text, "no verdict"));
  EXPECT_TRUE(has(text, "boots"));
  EXPECT_TRUE(has(text, "both run on one host"));
  EXPECT_EQ(to_json_value(r)["verdict"], "estimate");
}

TEST(ComparisonText, PairLine) {
  EXPECT_TRUE(has(pair_line(2, {.a_first = false, .a = 100, .b = 110}), "pair 2  (B first)"));
  EXPECT_TRUE(has(pair_line(2, {.a_first = false, .a = 100, .b = 110}), "B/A 1.100"));
}

}  // namespace
}  // namespace hyperloom

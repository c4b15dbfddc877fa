#include "stats/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace hyperloom {
namespace {

using Json = nlohmann::json;

// The six stock legs of the published example, in log units.
NoisePool example_pool() {
  NoisePool pool;
  pool.add_stock_legs({0.0031, -0.0052, 0.0074, -0.0010, -0.0088, 0.0045});
  return pool;
}

TEST(NoisePool, AnEarlierDayStartsThePoolAndGoes) {
  NoisePool pool;
  pool.start_with({0.02, std::nan(""), -0.02, 0.02, -0.02, 9, 9});
  EXPECT_EQ(pool.df(), 0) << "alone it proves nothing about today";
  EXPECT_TRUE(pool.values().empty());
  EXPECT_EQ(pool.pair_sd(), 0);
  pool.add_stock_legs({0.01, -0.01, 0.01, -0.01});
  EXPECT_EQ(pool.df(), 3 + 4);
  EXPECT_EQ(pool.values().size(), 8u);
  EXPECT_NEAR(pool.pair_sd(), std::sqrt((0.02 * 0.02 + 0.01 * 0.01 * 8 / 3) / 2), 1e-9);
  pool.add_comparison({0.001, 0.002, 0.003});
  EXPECT_EQ(pool.df(), 5) << "from 5 df of its own the session knows better";
  EXPECT_EQ(pool.values().size(), 7u);
}

TEST(NoisePool, AQuieterDayIsScaledUpToToday) {
  NoisePool with, without;
  for (NoisePool* pool : {&with, &without}) pool->add_stock_legs({0.01, -0.01, 0.01, -0.01});
  with.start_with({0.001, -0.001, 0.001, -0.001});
  EXPECT_NEAR(with.pair_sd(), without.pair_sd(), 1e-12);
  with.start_with({0, 0});
  EXPECT_LT(with.pair_sd(), without.pair_sd());   // nothing to scale
  EXPECT_GT(with.pair_sd(), 0.5 * without.pair_sd());
}

TEST(StudentT, TableValues) {
  EXPECT_NEAR(student_t_upper_tail(2.015048, 5), 0.05, 1e-7);
  EXPECT_NEAR(student_t_upper_quantile(0.025, 4), 2.776445, 1e-6);
  EXPECT_NEAR(student_t_upper_quantile(0.05, 1e6), 1.644854, 1e-5);
  EXPECT_NEAR(student_t_upper_tail(-1, 1), 0.75, 1e-12);  // Cauchy
  EXPECT_DOUBLE_EQ(student_t_upper_tail(0, 7), 0.5);
  EXPECT_NEAR(normal_cdf(1.959964), 0.975, 1e-7);
}

TEST(StudentT, EndsOfTheRange) {
  EXPECT_TRUE(std::isinf(student_t_upper_quantile(0, 5)));
  EXPECT_EQ(student_t_upper_tail(std::numeric_limits<double>::infinity(), 5), 0);
  EXPECT_TRUE(std::isnan(student_t_upper_tail(1, 0)));
  EXPECT_TRUE(std::isnan(student_t_upper_quantile(1.5, 5)));
}

TEST(Median, OddEvenEmpty) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({}), 0);
}

// Figures printed by the published reference, which works in percent.
TEST(Look, PublishedExample) {
  const NoisePool pool = example_pool();
  EXPECT_EQ(pool.df(), 5);
  EXPECT_NEAR(pool.values()[0] * 100, 0.4802, 5e-5);
  const std::vector<double> d = {0.021, 0.012, 0.029, 0.018, 0.024};
  for (size_t n = 1; n < 5; ++n)
    EXPECT_EQ(look(pool, {d.begin(), d.begin() + n}, {}).verdict, Verdict::Continue) << n;
  const Look last = look(pool, d, {});
  EXPECT_EQ(last.verdict, Verdict::Faster);
  EXPECT_NEAR(last.clip_limit * 100, 3.3418, 5e-5);
  EXPECT_NEAR(last.s * 100, 0.77675, 5e-6);
  EXPECT_EQ(last.nu, 9);
  EXPECT_NEAR(last.p, 0.00010277, 5e-9);
  EXPECT_NEAR(last.bound, 0.00018889, 5e-9);
  EXPECT_NEAR(last.chance, 0.99999, 5e-6);
  EXPECT_NEAR(last.upper * 100, 2.7168, 5e-5);
  const Look bad = look(pool, {-0.006}, {});
  EXPECT_EQ(bad.verdict, Verdict::Unresolvable);
  EXPECT_NEAR(bad.chance, 0.016451, 5e-7);
  const Look burst = look(pool, {0.009, 0.09, 0.014}, {});
  EXPECT_NEAR(burst.mean * 100, 1.8806, 5e-5);
  EXPECT_NEAR(burst.raw * 100, 3.7667, 5e-5);
  EXPECT_EQ(burst.verdict, Verdict::Continue);
}

TEST(Look, AgreesWithASecondImplementation) {
  std::ifstream file(HYPERLOOM_CASES "/stats/looks.json");
  ASSERT_TRUE(file) << "tests/tools/make_stats_looks.py writes it";
  int looks = 0;
  std::map<std::string, int> verdicts;
  const Json content = Json::parse(file);
  for (const Json& c : content["cases"]) {
    NoisePool pool;
    pool.add_stock_legs(c["stock_legs"]);
    pool.add_null_pairs(c["null_pairs"]);
    for (const Json& d : c["comparisons"]) pool.add_comparison(d);
    ASSERT_EQ(pool.df(), c["df"].get<int>());
    TestPlan plan;
    plan.alpha_k = c["plan"]["alpha_k"], plan.max_pairs = c["plan"]["max_pairs"];
    plan.min_pairs = c["plan"]["min_pairs"], plan.useful_gain = c["plan"]["useful_gain"];
    const std::vector<double> all = c["differences"];
    for (size_t i = 0; i < all.size(); ++i, ++looks) {
      SCOPED_TRACE(testing::Message()
                   << "case with differences " << c["differences"] << " look " << i + 1);
      const std::vector<double> d(all.begin(), all.begin() + static_cast<long>(i) + 1);
      const Json& want = c["looks"][i];
      const Look got = look(pool, d, plan);
      const auto close = [&](double value, const char* name) {
        const double expected = want[name];
        EXPECT_NEAR(value, expected, 1e-12 + 1e-8 * std::fabs(expected)) << name;
      };
      close(got.n, "n"), close(got.clip_limit, "clip_limit"), close(got.s, "s"),
          close(got.nu, "nu");
      close(got.mean, "mean"), close(got.raw, "raw"), close(got.p, "p"), close(got.bound, "bound");
      close(got.chance, "chance"), close(got.upper, "upper"),
          close(got.s_own_over_pool, "s_own_over_pool");
      EXPECT_EQ(name_of(got.verdict), want["verdict"].get<std::string>());
      ++verdicts[name_of(got.verdict)];
      const GuardResult guard = latency_guard(pool, d, c["margin"], plan.max_pairs);
      const Json& guarded = c["guards"][i];
      EXPECT_NEAR(guard.p, guarded["p"].get<double>(), 1e-12 + 1e-8 * guard.p);
      EXPECT_NEAR(guard.mean, guarded["mean"].get<double>(), 1e-12);
      EXPECT_NEAR(guard.bound, guarded["bound"].get<double>(), 1e-12);
      EXPECT_EQ(guard.pass, guarded["passes"].get<bool>());
    }
    const Interval claim = claim_interval(all, c["claim"]["level"]);
    const Json& want = c["claim"]["expect"];
    EXPECT_NEAR(claim.mean, want["mean"].get<double>(), 1e-12);
    EXPECT_NEAR(claim.low, want["low"].get<double>(), 1e-11);
    EXPECT_NEAR(claim.high, want["high"].get<double>(), 1e-11);
    EXPECT_NEAR(claim.sd, want["sd"].get<double>(), 1e-12);
    EXPECT_EQ(claim.n, want["n"].get<int>());
  }
  EXPECT_GT(looks, 500);
  EXPECT_EQ(verdicts.size(), 4u);  // the file exercises every verdict
}

TEST(Look, NothingIsKeptOnATinyPoolOrOnTwoPairs) {
  NoisePool tiny;
  tiny.add_stock_legs({0, 0.001, -0.001});  // 2 df
  const Look never = look(tiny, {0.5, 0.5, 0.5, 0.5}, {});
  EXPECT_EQ(never.verdict, Verdict::Unresolvable);
  EXPECT_EQ(never.chance, 0);
  EXPECT_EQ(look(example_pool(), {0.5, 0.5}, {}).verdict, Verdict::Continue);
  EXPECT_EQ(look(example_pool(), {0.5, 0.5, 0.5}, {}).verdict, Verdict::Faster);
}

TEST(Look, WhatOnceCrossedTheBoundaryStaysDecided) {
  NoisePool pool;
  pool.add_null_pairs({0.01, -0.01, 0.012, -0.008, 0.009, -0.011, 0.01, -0.01});
  std::vector<double> differences(4, 0.08);
  const Look crossed = deciding_look(pool, differences, {});
  ASSERT_EQ(crossed.verdict, Verdict::Faster);
  differences.insert(differences.end(), {-0.02, 0.03, -0.03});
  EXPECT_NE(look(pool, differences, {}).verdict, Verdict::Faster);
  EXPECT_EQ(deciding_look(pool, differences, {}).verdict, Verdict::Faster);
  EXPECT_EQ(deciding_look(pool, differences, {}).n, crossed.n);
  differences.insert(differences.end(), 2, -0.2);   // no gain is left
  EXPECT_NE(deciding_look(pool, differences, {}).verdict, Verdict::Faster);
  // Without a crossing it is the last look.
  EXPECT_EQ(deciding_look(pool, {0.001, -0.002, 0.001}, {}).n, 3);
  EXPECT_EQ(deciding_look(pool, {}, {}).n, 0);
}

TEST(Look, ProvenButUselessIsNotKept) {
  NoisePool quiet;
  quiet.add_null_pairs({0.0004, -0.0005, 0.0003, -0.0004, 0.0005, -0.0003, 0.0004, -0.0004});
  const std::vector<double> d(10, 0.003);
  const Look result = look(quiet, d, {});
  EXPECT_LT(result.p, result.bound);
  EXPECT_EQ(result.verdict, Verdict::NotUseful);
}

TEST(Look, FloorsHoldWhenTheMetricIsQuantised) {
  NoisePool same;
  same.add_stock_legs({0.01, 0.01, 0.01, 0.01});
  const Look result = look(same, {0.02, 0.02, 0.02}, {});
  EXPECT_EQ(result.clip_limit, 0.0015);
  EXPECT_EQ(result.s, 0.0005);
  EXPECT_TRUE(std::isfinite(result.p));
}

TEST(Look, NoisyCandidateIsJudgedByItsOwnNoise) {
  NoisePool quiet;
  quiet.add_null_pairs({0.011, -0.010, 0.009, -0.011, 0.010, -0.009, 0.010, -0.010});
  const Look result = look(quiet, {0.05, -0.04, 0.05, 0.05}, {});
  EXPECT_GT(result.s_own_over_pool, 2);
  EXPECT_EQ(result.nu, 3);
  EXPECT_EQ(look(quiet, {0.05, -0.04, 0.05}, {}).nu, 10);  // 3 pairs do not show it
}

TEST(Look, MisuseIsAnErrorNotAVerdict) {
  const NoisePool pool = example_pool();
  EXPECT_EQ(look(pool, {}, {}).verdict, Verdict::Continue);
  EXPECT_THROW(look(NoisePool{}, {0.1}, {}), Error);
  EXPECT_THROW(look(pool, {0.1, std::nan("")}, {}), Error);
  EXPECT_THROW(look(pool, std::vector<double>(11, 0.0), {}), Error);
  TestPlan plan;
  plan.max_pairs = 1;
  EXPECT_THROW(look(pool, {0.1}, plan), Error);
  NoisePool fresh;
  EXPECT_THROW(fresh.add_stock_legs({0, -std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW(claim_interval({0.1}), Error);
}

TEST(NoisePool, PairSdIsOfClampedValues) {
  NoisePool pool;
  EXPECT_EQ(pool.pair_sd(), 0);
  pool.add_stock_legs({0.5});  // one leg: no information
  EXPECT_EQ(pool.df(), 0);
  pool.add_null_pairs({0.01, -0.01, 0.01, -0.01, 0.01, -0.01, 0.5});
  const double limit = 3 * 0.01 / 0.6745;
  EXPECT_NEAR(pool.pair_sd(), std::sqrt((6 * 0.0001 + limit * limit) / 7), 1e-12);
}

TEST(LatencyGuard, PassesHarmlessStopsAtTheMargin) {
  NoisePool pool;
  pool.add_null_pairs({0.011, -0.010, 0.009, -0.011, 0.010, -0.009, 0.010, -0.010});
  EXPECT_TRUE(latency_guard(pool, {0.001, -0.002, 0.002, 0.0, 0.001}, 0.03).pass);
  EXPECT_FALSE(latency_guard(pool, {0.031, 0.028, 0.032, 0.03, 0.029}, 0.03).pass);
  EXPECT_FALSE(latency_guard(pool, {0.001}, 0.5).pass);  // one pair proves nothing
  EXPECT_FALSE(latency_guard(pool, {}, 0.5).pass);
}

TEST(PairsNeeded, FollowsTheRuleOfThumb) {
  EXPECT_EQ(pairs_needed(0.019, 0.01), 0);
  EXPECT_EQ(pairs_needed(0.02, 0.01), 10);
  EXPECT_EQ(pairs_needed(0.20, 0.01), pairs_needed(0.5, 0.01));
  EXPECT_EQ(pairs_needed(0.03, 0.01), 6);
  EXPECT_EQ(pairs_needed(0, 0.01), 0);
  EXPECT_EQ(pairs_needed(-0.02, 0.01), 0);
  for (double gain = 0.02; gain < 0.2; gain += 0.001)
    EXPECT_GE(pairs_needed(gain, 0.01), pairs_needed(gain + 0.001, 0.01));
}

TEST(Order, BlocksOfTwoByCoin) {
  std::set<std::string> patterns;
  int heads = 0;
  for (int comparison = 0; comparison < 400; ++comparison) {
    const std::string id = std::to_string(comparison);
    for (int block = 0; block < 5; ++block)
      EXPECT_NE(a_goes_first("s", id, 2 * block), a_goes_first("s", id, 2 * block + 1));
    heads += a_goes_first("s", id, 0);
    patterns.insert({char('0' + a_goes_first("s", id, 0)), char('0' + a_goes_first("s", id, 2))});
  }
  EXPECT_GT(heads, 150);
  EXPECT_LT(heads, 250);
  EXPECT_EQ(patterns.size(), 4u);
  EXPECT_EQ(a_goes_first("s", "1", 0), a_goes_first("s", "1", 0));
}

}  // namespace
}  // namespace hyperloom

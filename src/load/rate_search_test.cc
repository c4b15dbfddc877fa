#include "load/rate_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/error.h"
#include "load/random.h"

namespace hyperloom {
namespace {

using Server = std::function<bool(double rate, Random& random)>;   // whether one run at a rate meets the limits

RateAnswer search(const RateSearchPlan& plan, const Server& run, uint64_t seed, int* runs = nullptr) {
  Random random(seed);
  RateSearch search(plan);
  while (const auto rate = search.next()) search.add(run(*rate, random));
  if (runs) *runs = search.runs();
  return search.answer();
}

struct Score { int covered = 0, found = 0; double runs = 0, width = 0; };

Score score(const RateSearchPlan& plan, const Server& run, double capacity, int searches) {
  Score s;
  for (int i = 0; i < searches; ++i) {
    int runs = 0;
    const RateAnswer a = search(plan, run, static_cast<uint64_t>(i) + 1, &runs);
    s.covered += a.meets.value_or(0) <= capacity && a.misses.value_or(HUGE_VAL) >= capacity;
    s.runs += runs;
    if (a.end != RateEnd::Found) continue;
    ++s.found;
    s.width += *a.misses / *a.meets - 1;
  }
  s.runs /= searches;
  s.width /= std::max(1, s.found);
  return s;
}

// The chance to meet falls from 1 to 0 around `capacity`; `spread`: how far from it, as a log ratio, 73 % are reached.
Server soft_edge(double capacity, double spread) {
  return [=](double rate, Random& random) {
    if (rate <= 0) return true;
    return random.uniform() < 1 / (1 + std::exp(std::log(rate / capacity) / spread));
  };
}

// p99 of the waits of `requests` Poisson arrivals at 4 servers of exponential service of 1 s, after a quarter of warm-up.
bool queue_meets(double rate, int requests, double limit_s, Random& random) {
  std::priority_queue<double, std::vector<double>, std::greater<>> servers;
  for (int i = 0; i < 4; ++i) servers.push(0);
  double now = 0;
  int over = 0;
  for (int i = 0; i < requests * 5 / 4; ++i) {
    now = rate > 0 ? now + random.exponential() / rate : servers.top();
    const double start = std::max(now, servers.top());
    servers.pop();
    servers.push(start + random.exponential());
    over += i >= requests / 4 && start - now > limit_s;
  }
  return over <= requests / 100;
}

TEST(RateSearch, ASharpEdgeIsFoundToTwoSteps) {
  const Server step = [](double rate, Random&) { return rate <= 7.3; };
  int runs = 0;
  const RateAnswer a = search({.start_rps = 0.9}, step, 1, &runs);
  EXPECT_EQ(a.end, RateEnd::Found);
  ASSERT_TRUE(a.meets && a.misses);
  EXPECT_LE(*a.meets, 7.3);
  EXPECT_GT(*a.misses, 7.3);
  EXPECT_LT(*a.misses / *a.meets, 1.16);
  EXPECT_NEAR(a.estimate, 7.3, 0.2);
  EXPECT_LE(runs, 26);
}

TEST(RateSearch, BeginsWithOneRequestAtATimeThenDoublesThenHalves) {
  RateSearch search({.start_rps = 2});
  std::vector<double> rates;
  while (rates.size() < 7) {
    rates.push_back(*search.next());
    EXPECT_FALSE(search.proving());
    search.add(rates.back() < 10);
  }
  EXPECT_EQ(rates[0], 0);
  EXPECT_EQ(rates[1], 2);
  for (size_t i = 2; i < 5; ++i) EXPECT_NEAR(rates[i], 2 * rates[i - 1], 0.05 * rates[i]);
  EXPECT_GT(rates[4], 10);                              // the first that missed
  EXPECT_NEAR(rates[5], std::sqrt(rates[3] * rates[4]), 0.05 * rates[5]);
  EXPECT_EQ(search.answer().end, RateEnd::Searching);
}

// 1000 searches each: whatever the noise of the runs, the interval holds the capacity as often as it states, and more.
TEST(RateSearch, CoversTheCapacityAtTheStatedErrorWhateverTheNoise) {
  for (const double spread : {0.01, 0.03, 0.1, 0.3, 3.0}) {
    const Score s = score({.start_rps = 1}, soft_edge(9, spread), 9, 1000);
    EXPECT_GE(s.covered, 950) << spread;
    if (spread < 0.05) {
      EXPECT_GE(s.found, 990) << spread;
      EXPECT_LE(s.runs, 40) << spread;
      EXPECT_LE(s.width, 0.3) << spread;
    }
  }
}

TEST(RateSearch, ALargerErrorIsStillKept) {
  const Score s = score({.start_rps = 1, .alpha = 0.4}, soft_edge(9, 0.1), 9, 1000);
  EXPECT_GE(s.covered, 600);
  EXPECT_LE(s.covered, 999);                            // an interval that never misses would be too wide
}

// Runs at any rate meet as often as not: nothing can be proven, and seldom is.
TEST(RateSearch, CoinTossesAreUnresolved) {
  int proven = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const RateAnswer a = search({.start_rps = 1}, [](double, Random& random) { return random.uniform() < 0.5; }, seed);
    proven += a.meets || a.misses;
  }
  EXPECT_LE(proven, 25);
}

TEST(RateSearch, AQueueOfFourServersByItsP99) {
  double low = 2, high = 4;                             // around the rate at which half of the runs meet
  while (high / low > 1.01) {
    const double middle = std::sqrt(low * high);
    Random random(99);
    int met = 0;
    for (int i = 0; i < 500; ++i) met += queue_meets(middle, 200, 2, random);
    (met > 250 ? low : high) = middle;
  }
  ASSERT_GT(low, 2.5);
  ASSERT_LT(high, 3.2);
  const auto server = [](double rate, Random& random) { return queue_meets(rate, 200, 2, random); };
  const Score s = score({.start_rps = 0.9}, server, low, 100);
  EXPECT_GE(s.covered, 95);
  EXPECT_GE(s.found, 40);
}

TEST(RateSearch, WhatMissesAloneMissesAlways) {
  int runs = 0;
  const RateAnswer a = search({.start_rps = 5}, [](double, Random&) { return false; }, 1, &runs);
  EXPECT_EQ(a.end, RateEnd::NoRate);
  EXPECT_FALSE(a.meets);
  EXPECT_EQ(a.misses, 0);
  EXPECT_EQ(a.estimate, 0);
  EXPECT_EQ(runs, 8);
}

TEST(RateSearch, OneFlukeAtTheFloorIsNoVerdict) {
  bool first = true;
  const auto server = [&](double rate, Random&) { return !std::exchange(first, false) && rate < 50; };
  const RateAnswer a = search({.start_rps = 5}, server, 1);
  EXPECT_EQ(a.end, RateEnd::Found);
  EXPECT_NEAR(a.estimate, 50, 3);
}

TEST(RateSearch, OnlyOneAtATime) {
  const RateAnswer a = search({.start_rps = 5}, [](double rate, Random&) { return rate == 0; }, 1);
  EXPECT_EQ(a.end, RateEnd::Found);
  EXPECT_EQ(a.meets, 0);
  EXPECT_LT(*a.misses, 5);
}

TEST(RateSearch, WhatTheClientCannotSendIsUnlimited) {
  int runs = 0;
  const RateAnswer a = search({.start_rps = 5, .most_rps = 30}, [](double, Random&) { return true; }, 1, &runs);
  EXPECT_EQ(a.end, RateEnd::Unlimited);
  EXPECT_LE(*a.meets, 30);
  EXPECT_GT(*a.meets, 28);
  EXPECT_FALSE(a.misses);
  EXPECT_LE(runs, 13);
}

TEST(RateSearch, AFlukeInTheDoublingIsOverruled) {
  bool fluke = true;
  const auto server = [&](double rate, Random&) { return rate < 40 && !(rate > 3 && std::exchange(fluke, false)); };
  const RateAnswer a = search({.start_rps = 1}, server, 1);
  EXPECT_EQ(a.end, RateEnd::Found);
  EXPECT_NEAR(a.estimate, 40, 3);
}

TEST(RateSearch, NeverGoesOnPastItsRuns) {
  RateSearch search({.start_rps = 1, .most_runs = 3});
  for (int i = 0; i < 3; ++i) search.add(true);
  EXPECT_FALSE(search.next());
  EXPECT_EQ(search.answer().end, RateEnd::Unresolved);
  EXPECT_THROW(search.add(true), Error);
}

TEST(RateSearch, RefusesPlansThatCannotBeCarriedOut) {
  EXPECT_THROW(RateSearch({.start_rps = 0}), Error);
  EXPECT_THROW(RateSearch({.start_rps = HUGE_VAL}), Error);
  EXPECT_THROW(RateSearch({.alpha = 0}), Error);
  EXPECT_THROW(RateSearch({.resolution = 1}), Error);
  EXPECT_THROW(RateSearch({.most_runs = 0}), Error);
}

}  // namespace
}  // namespace hyperloom

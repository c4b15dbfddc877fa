#include "load/saturation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "load/random.h"

namespace hyperloom {
namespace {

struct Run { std::vector<TimedValue> in_flight, ttft_s; double end_s = 0; };

// Poisson arrivals at `load` times what 8 servers of 1 s each can do.
Run queue_of(double load, int requests, uint64_t seed) {
  Random random(seed);
  std::vector<double> arrivals, ends;
  std::priority_queue<double, std::vector<double>, std::greater<>> servers;
  for (int i = 0; i < 8; ++i) servers.push(0);
  double now = 0;
  Run run;
  for (int i = 0; i < requests; ++i) {
    now += random.exponential() / (8 * load);
    const double start = std::max(now, servers.top());
    servers.pop();
    ends.push_back(start + random.exponential());
    servers.push(ends.back());
    arrivals.push_back(now);
    run.ttft_s.push_back({now, 0.05 + start - now});
  }
  run.end_s = now;
  std::sort(ends.begin(), ends.end());
  for (double t = 0; t < now; t += 0.05) {
    const auto come = std::upper_bound(arrivals.begin(), arrivals.end(), t) - arrivals.begin();
    const auto gone = std::upper_bound(ends.begin(), ends.end(), t) - ends.begin();
    run.in_flight.push_back({t, static_cast<double>(come - gone)});
  }
  return run;
}

bool saturated(const Run& run) { return !saturation_warning(run.in_flight, run.ttft_s, 0.1 * run.end_s, run.end_s).empty(); }

TEST(Saturation, IsSaidOfAServerThatCannotKeepUp) {
  int said = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) said += saturated(queue_of(1.4, 600, seed));
  EXPECT_GE(said, 19);
}

TEST(Saturation, IsNotSaidOfOneThatCan) {
  for (const double load : {0.3, 0.7}) {
    int said = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) said += saturated(queue_of(load, 600, seed));
    EXPECT_LE(said, 1) << load;
  }
}

TEST(Saturation, IsNotJudgedFromTooFewValuesOrNoTime) {
  std::vector<TimedValue> few;
  for (int i = 0; i < 24; ++i) few.push_back({i / 24.0, 1.0 + i});
  EXPECT_FALSE(rises(few, 0, 1));
  EXPECT_FALSE(rises(few, 1, 1));
  EXPECT_FALSE(rises({}, 0, 1));
  std::vector<TimedValue> enough;
  for (int i = 0; i < 120; ++i) enough.push_back({i / 120.0, 1.0 + i});
  EXPECT_TRUE(rises(enough, 0, 1));
  std::vector<TimedValue> falling;
  for (int i = 0; i < 120; ++i) falling.push_back({i / 120.0, 200.0 - i});
  EXPECT_FALSE(rises(falling, 0, 1));
}

// A closed loop of doubling clients over what `throughput` says; latency by Little's law.
std::vector<LoadPoint> doubling(int steps, const std::function<double(double)>& throughput) {
  std::vector<LoadPoint> points;
  for (double clients = 1; steps > 0; --steps, clients *= 2)
    points.push_back({clients, throughput(clients), clients / throughput(clients)});
  return points;
}

TEST(LoadCurve, ACleanKneeIsWhereTheRampEnds) {
  const LoadCurve curve = read_curve(doubling(8, [](double n) { return std::min(10 * n, 160.0); }));
  EXPECT_EQ(curve.knee, 4u);   // 16 clients
  EXPECT_THAT(curve.beside, testing::IsEmpty());
  EXPECT_EQ(curve.saturated, 5u);
}

TEST(LoadCurve, ASoftKneeIsWhereHalfOfTheCapacityIsUsed) {
  // T = 100 N / (N + 16), so T/R = T^2/N = 10^4 N / (N + 16)^2, which is greatest at N = 16.
  const LoadCurve curve = read_curve(doubling(10, [](double n) { return 100 * n / (n + 16); }));
  EXPECT_EQ(curve.knee, 4u);
  EXPECT_EQ(curve.saturated, 8u);   // 256 clients: from 128, 6 % more for twice the load
}

TEST(LoadCurve, FlatFromTheStartIsSaturatedAtTheSecondStep) {
  const LoadCurve curve = read_curve(doubling(3, [](double) { return 50; }));
  EXPECT_EQ(curve.knee, 0u);
  EXPECT_EQ(curve.saturated, 1u);
}

TEST(LoadCurve, StillRisingHasNoKnee) {
  const LoadCurve curve = read_curve(doubling(8, [](double n) { return 10 * n; }));
  EXPECT_FALSE(curve.knee);
  EXPECT_FALSE(curve.saturated);
}

TEST(LoadCurve, FallingAfterThePeak) {
  const LoadCurve curve = read_curve(doubling(7, [](double n) { return n <= 8 ? 10 * n : 80 * std::pow(8 / n, 0.3); }));
  EXPECT_EQ(curve.knee, 3u);
  EXPECT_EQ(curve.saturated, 4u);
}

TEST(LoadCurve, NoiseMovesTheKneeByOneStepAtMostAndInventsNoSaturation) {
  int exact = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto noisy = [&](double n) { return std::min(10 * n, 160.0) * std::exp(0.05 * random.normal()); };
    std::vector<LoadPoint> points;
    for (double n = 1; n <= 512; n *= 2) {
      const double t = noisy(n);
      points.push_back({n, t, n / t});
      const LoadCurve so_far = read_curve(points);
      if (n <= 16) {
        EXPECT_FALSE(so_far.saturated) << seed;
      }
      if (so_far.saturated) break;
    }
    const LoadCurve curve = read_curve(points);
    ASSERT_TRUE(curve.knee && curve.saturated) << seed;
    EXPECT_GE(*curve.saturated, 5u) << seed;
    exact += *curve.knee == 4;
    EXPECT_LE(std::abs(static_cast<int>(*curve.knee) - 4), 1) << seed;
  }
  EXPECT_GE(exact, 195);
}

TEST(LoadCurve, OnePointOrNoneIsNoCurve) {
  for (size_t count : {0, 1}) {
    const LoadCurve curve = read_curve(std::vector<LoadPoint>(count, {4, 100, 2}));
    EXPECT_FALSE(curve.knee);
    EXPECT_FALSE(curve.saturated);
  }
  EXPECT_EQ(read_curve({{4, 100, 2, false}}).saturated, 0u);
}

TEST(LoadCurve, ARunThatDidNotKeepUpEndsTheCurveAndIsNoKnee) {
  const LoadCurve curve = read_curve({{1, 10, 1}, {2, 20, 1}, {4, 200, 1.1, false}});
  EXPECT_EQ(curve.saturated, 2u);
  EXPECT_EQ(curve.knee, 1u);
  EXPECT_FALSE(read_curve({{1, 10, 1, false}, {2, 20, 1, false}}).knee);
  EXPECT_EQ(read_curve({{1, 0, 0}, {2, 0, 0}, {4, 0, 0}}).saturated, 1u);
}

}  // namespace
}  // namespace hyperloom

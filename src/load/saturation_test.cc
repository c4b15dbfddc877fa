#include "load/saturation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

}  // namespace
}  // namespace hyperloom

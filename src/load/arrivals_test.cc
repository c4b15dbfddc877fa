#include "load/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "load/random.h"
#include "stats/quantile.h"

namespace hyperloom {
namespace {

Traffic open_loop(double rate_rps, Arrival arrival = {}) {
  Traffic traffic;
  traffic.kind = Traffic::Kind::Open;
  traffic.rate_rps = rate_rps;
  traffic.arrival = arrival;
  return traffic;
}

std::vector<double> gaps_of(const std::vector<double>& times) {
  std::vector<double> gaps;
  for (size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  return gaps;
}

// Of a gamma distribution of shape b: 1 / sqrt(b).
double cv_of_gaps(const Arrival& arrival) {
  const std::vector<double> gaps = gaps_of(arrival_times(open_loop(4, arrival), 3, 20001));
  return sample_sd(gaps) / mean(gaps);
}

TEST(Arrivals, GammaVariablesHaveTheirMeanAndVariance) {
  for (const double shape : {0.05, 0.5, 1.0, 3.0, 400.0}) {
    Random random(9);
    std::vector<double> values;
    for (int i = 0; i < 40000; ++i) values.push_back(random.gamma(shape));
    const double sd = std::sqrt(shape);
    EXPECT_NEAR(mean(values), shape, 5 * sd / 200) << shape;              // five standard errors
    // The relative standard error of a variance is sqrt((kurtosis - 1) / n), kurtosis 3 + 6 / shape.
    EXPECT_NEAR(std::pow(sample_sd(values), 2) / shape, 1, 5 * std::sqrt((2 + 6 / shape) / 40000)) << shape;
  }
}

TEST(Arrivals, BurstinessIsTheShapeOfTheGaps) {
  EXPECT_NEAR(cv_of_gaps({}), 1, 0.04);
  EXPECT_NEAR(cv_of_gaps({.process = Arrival::Process::Gamma, .burstiness = 0.25}), 2, 0.15);
  EXPECT_NEAR(cv_of_gaps({.process = Arrival::Process::Gamma, .burstiness = 4}), 0.5, 0.02);
  EXPECT_NEAR(cv_of_gaps({.process = Arrival::Process::Constant}), 0, 1e-9);
}

TEST(Arrivals, EveryProcessOffersExactlyTheStatedRate) {
  for (const Arrival& arrival : {Arrival{}, Arrival{.process = Arrival::Process::Constant},
                                 Arrival{.process = Arrival::Process::Gamma, .burstiness = 0.01},
                                 Arrival{.process = Arrival::Process::Gamma, .burstiness = 50}}) {
    const std::vector<double> times = arrival_times(open_loop(5, arrival), 11, 2001);
    EXPECT_EQ(times.front(), 0);
    EXPECT_NEAR(times.back(), 400, 1e-6);
    for (const double gap : gaps_of(times)) EXPECT_GE(gap, 0);
  }
}

// 5 requests: gaps 1/1.75, 1/2.5, 1/3.25, 1/4 (linear, 1 to 4), and 1/(4^(i/4)) (exponential).
TEST(Arrivals, ARampRisesByRequestNumberAsPeersDoIt) {
  Arrival arrival{.process = Arrival::Process::Constant, .ramp_up = "linear", .ramp_from_rps = 1};
  const std::vector<double> linear = gaps_of(arrival_times(open_loop(4, arrival), 1, 5));
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(linear[i], 1 / (1.75 + 0.75 * static_cast<double>(i)), 1e-12);
  arrival.ramp_up = "exponential";
  const std::vector<double> exponential = gaps_of(arrival_times(open_loop(4, arrival), 1, 5));
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(exponential[i], std::pow(4, -0.25 * static_cast<double>(i + 1)), 1e-12);
}

TEST(Arrivals, ARandomRampTakesTheTimeOfItsRates) {
  const Arrival arrival{.process = Arrival::Process::Gamma, .burstiness = 0.5, .ramp_up = "linear", .ramp_from_rps = 2};
  double expected = 0;
  for (int i = 1; i < 101; ++i) expected += 1 / (2 + 8 * i / 100.0);
  for (const uint64_t seed : {1, 2, 3}) EXPECT_NEAR(arrival_times(open_loop(10, arrival), seed, 101).back(), expected, 1e-9);
}

TEST(Arrivals, OneRequestOrNoneIsDueAtOnce) {
  EXPECT_EQ(arrival_times(open_loop(4, {.ramp_up = "linear", .ramp_from_rps = 1}), 1, 1), (std::vector<double>{0}));
  EXPECT_TRUE(arrival_times(open_loop(4), 1, 0).empty());
}

TEST(Arrivals, ARateIsNeeded) {
  EXPECT_THROW(arrival_times(open_loop(0), 1, 2), Error);
  EXPECT_THROW(arrival_times(open_loop(4, {.ramp_up = "linear"}), 1, 2), Error);
}

}  // namespace
}  // namespace hyperloom

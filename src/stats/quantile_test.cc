#include "stats/quantile.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hyperloom {
namespace {

TEST(Quantile, MeanAndSd) {
  EXPECT_EQ(mean({}), 0);
  EXPECT_DOUBLE_EQ(mean({1, 2, 6}), 3);
  EXPECT_EQ(sample_sd({5}), 0);
  EXPECT_DOUBLE_EQ(sample_sd({2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7));
}

TEST(Quantile, SdDoesNotCancelOnALargeOffset) {
  EXPECT_NEAR(sample_sd({1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}), std::sqrt(30.0), 1e-6);
}

TEST(Quantile, PercentileIsNearestRank) {
  const std::vector<double> values = {50, 15, 40, 35, 20};
  EXPECT_EQ(percentile(values, 0), 15);
  EXPECT_EQ(percentile(values, 30), 20);
  EXPECT_EQ(percentile(values, 40), 20);
  EXPECT_EQ(percentile(values, 50), 35);
  EXPECT_EQ(percentile(values, 100), 50);
  EXPECT_EQ(percentile({}, 50), 0);
  EXPECT_EQ(percentile({7}, 99), 7);
}

TEST(Quantile, WholeRanksDoNotRoundUp) {
  std::vector<double> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(i);
  for (int percent = 1; percent <= 100; ++percent)
    EXPECT_EQ(percentile(values, percent), 10 * percent) << percent;
}

TEST(Quantile, SlopeMatchesTheTextbook) {
  // y = 1 3 2 5 4 over 0..4: slope 0.8, residual variance 1.2, Sxx 10.
  EXPECT_NEAR(slope_t({1, 3, 2, 5, 4}), 0.8 / std::sqrt(1.2 / 10), 1e-12);
  EXPECT_NEAR(slope_t({4, 5, 2, 3, 1}), -0.8 / std::sqrt(1.2 / 10), 1e-12);
}

TEST(Quantile, SlopeOfFewFlatAndStraightSeries) {
  EXPECT_EQ(slope_t({}), 0);
  EXPECT_EQ(slope_t({1, 2}), 0);
  EXPECT_EQ(slope_t({3, 3, 3, 3}), 0);
  EXPECT_EQ(slope_t({0.1, 0.1, 0.1, 0.1, 0.1}), 0);
  EXPECT_TRUE(std::isinf(slope_t({1, 2, 3, 4})));
  EXPECT_LT(slope_t({4, 3, 2, 1}), 0);
}

}  // namespace
}  // namespace hyperloom

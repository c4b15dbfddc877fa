#include "base/log_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperloom {
namespace {

TEST(LogHistogram, EveryPercentileIsWithinItsRelativeError) {
  for (const double error : {0.01, 0.001}) {
    LogHistogram histogram(error);
    std::vector<double> values;
    double x = 0.5;
    for (int i = 0; i < 20000; ++i) {
      x = std::fmod(x * 16807 + 0.1234567, 1.0);               // any spread over ten decades will do
      values.push_back(std::pow(10, 10 * x - 6));
      histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const double p : {0.01, 1.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0}) {
      const double exact = values[static_cast<size_t>(std::ceil(p / 100 * 20000 - 1e-9)) - 1];
      EXPECT_NEAR(histogram.percentile(p), exact, error * exact * (1 + 1e-9)) << p;
    }
    double sum = 0;
    for (const double value : values) sum += value;
    EXPECT_NEAR(histogram.mean(), sum / 20000, 1e-9 * sum);
    EXPECT_EQ(histogram.max(), values.back());
  }
}

TEST(LogHistogram, BucketsHoldEverythingInOrder) {
  LogHistogram histogram;
  histogram.add(5, 3);
  histogram.add(0);
  histogram.add(1e-4);
  histogram.add(7);
  uint64_t total = 0;
  double before = -1;
  for (const LogHistogram::Bucket& bucket : histogram.buckets()) {
    EXPECT_GT(bucket.value, before);
    before = bucket.value;
    total += bucket.count;
  }
  EXPECT_EQ(total, histogram.count());
  EXPECT_EQ(total, 6u);
  EXPECT_EQ(histogram.percentile(10), 0);
}

TEST(LogHistogram, OddValuesDoNoHarm) {
  LogHistogram histogram;
  EXPECT_EQ(histogram.percentile(50), 0);
  EXPECT_EQ(histogram.mean(), 0);
  histogram.add(std::nan(""));
  histogram.add(1, 0);
  EXPECT_EQ(histogram.count(), 0u);
  histogram.add(-3);
  histogram.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.percentile(50), 0);
  EXPECT_EQ(histogram.percentile(100), 1e9);
  EXPECT_LE(histogram.buckets().size(), 2u);
}

TEST(LogHistogram, MemoryIsBoundedByTheSpreadNotTheCount) {
  LogHistogram histogram(0.001);
  for (int i = 0; i < 1000000; ++i) histogram.add(1e-3 * (1 + i % 1000));
  EXPECT_EQ(histogram.count(), 1000000u);
  EXPECT_LE(histogram.buckets().size(), 3500u);   // ln(1000) / ln(g)
}

}  // namespace
}  // namespace hyperloom

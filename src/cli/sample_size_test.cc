#include "cli/sample_size.h"

#include <gtest/gtest.h>

namespace hyperloom {
namespace {

LoadSummary with(int requests) {
  LoadSummary summary;
  summary.ttft_ms.count = summary.e2e_ms.count = requests;
  summary.itl_ms.count = requests * 50;
  return summary;
}

TEST(SampleSize, TableP99) {
  EXPECT_EQ(sample_size_warnings(with(99), {}).size(), 1u);
  EXPECT_TRUE(sample_size_warnings(with(100), {}).empty());
  EXPECT_TRUE(sample_size_warnings(with(0), {}).empty());
}

TEST(SampleSize, LimitsByTheirOwnMetricAndPercentile) {
  EXPECT_EQ(sample_size_warnings(with(19), {{"ttft", 95, 500}}).size(), 2u);    // and the table's p99
  EXPECT_EQ(sample_size_warnings(with(20), {{"ttft", 95, 500}}).size(), 1u);
  EXPECT_EQ(sample_size_warnings(with(99), {{"ttft", 99, 500}}).size(), 1u);    // said once
  EXPECT_NE(sample_size_warnings(with(99), {{"ttft", 99, 500}})[0].find("ttft p99"), std::string::npos);
  EXPECT_EQ(sample_size_warnings(with(2), {{"itl", 99, 5}}).size(), 1u);        // 100 gaps do for itl, not for e2e
}

}  // namespace
}  // namespace hyperloom

#include "stats/share.h"

#include <gtest/gtest.h>

namespace hyperloom {
namespace {

TEST(Wilson, Textbook) {
  const Share share = wilson(10, 100);
  EXPECT_NEAR(share.low, 0.0552, 5e-5);
  EXPECT_NEAR(share.high, 0.1744, 5e-5);
  EXPECT_EQ(wilson(0, 50).low, 0);
  EXPECT_GT(wilson(0, 50).high, 0.05);
  EXPECT_EQ(wilson(50, 50).high, 1);
  EXPECT_EQ(wilson(0, 0).value(), 0);
}

}  // namespace
}  // namespace hyperloom

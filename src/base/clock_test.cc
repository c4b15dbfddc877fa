#include "base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hyperloom {
namespace {

TEST(SystemClock, GoesForwardAndNamesTheBoot) {
  SystemClock clock;
  const double before = clock.mono_s();
  EXPECT_GT(before, 0);
  EXPECT_GE(clock.mono_s(), before);
  EXPECT_EQ(clock.boot_id().size(), 36u);
  EXPECT_EQ(clock.boot_id(), clock.boot_id());
}

TEST(SystemClock, WallTimeIsRfc3339) {
  EXPECT_THAT(
      SystemClock().wall(),
      testing::MatchesRegex("20[0-9][0-9]-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9][0-9][0-9]Z"));
}

TEST(VirtualClock, MovesOnlyWhenTold) {
  VirtualClock clock;
  EXPECT_EQ(clock.mono_s(), 0);
  clock.advance(2.5);
  EXPECT_EQ(clock.mono_s(), 2.5);
}

}  // namespace
}  // namespace hyperloom

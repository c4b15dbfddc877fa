#include "os/pollution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hyperloom {
namespace {

using testing::HasSubstr;

TEST(Pollution, NamesEachBreachWithItsLimit) {
  Neighbours n;
  EXPECT_TRUE(pollution(n, {}).empty());
  n.foreign_cpu = 0.35;
  n.steal = 0.2;
  const auto breaches = pollution(n, {});
  ASSERT_EQ(breaches.size(), 2u);
  EXPECT_THAT(breaches[0], HasSubstr("0.35 cores on average (limit 0.10)"));
  EXPECT_THAT(breaches[1], HasSubstr("hypervisor"));
}

TEST(Pollution, NamesWhoItWasWhereThatIsSeen) {
  Neighbours n;
  n.foreign_cpu = 0.35;
  n.busiest = {{"cc1plus", 0.31}, {"updatedb", 0.04}};
  EXPECT_THAT(pollution(n, {}).at(0), HasSubstr("busiest: cc1plus 0.31, updatedb 0.04"));
}

TEST(Pollution, HeatThatSlowedACoreVoids) {
  Neighbours n;
  n.throttles = 0;
  EXPECT_TRUE(pollution(n, {}).empty());
  n.throttles = 3;
  EXPECT_THAT(pollution(n, {}), testing::ElementsAre(HasSubstr("for heat 3 times (limit 0)")));
  n.throttles.reset();
  EXPECT_TRUE(pollution(n, {}).empty());
}

// A slow clock, a hot chip or waiting tasks prove no cause: the engine's own load makes them too.
TEST(Pollution, WhatIsOnlyRecordedVoidsNothing) {
  Neighbours n;
  n.clock_mhz = 800, n.clock_lowest_mhz = 400, n.speed_msteps_s = 100, n.speed_lowest_msteps_s = 25;
  n.temperature_c = 99, n.cpu_stalled = n.memory_stalled = n.io_stalled = 1;
  n.run_queue_delay = 0.5;
  EXPECT_TRUE(pollution(n, {}).empty());
  const std::string text = recorded_text(n);
  for (const char* part : {"clock 800 MHz (lowest 400)", "speed probe 100 (lowest 25 %)", "99 degrees",
                           "delay 50.0 %", "cores waited for 100 %", "disks waited"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_EQ(recorded_text({}), "run-queue delay 0.0 %");
}

}  // namespace
}  // namespace hyperloom

#include "load/client_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ClientHealth kWell{.elapsed_s = 10, .cpu_s = 1, .waited_s = 0.1, .loop_delay_ms = 20};

LoadSummary summary_with(double ttft_ms, double itl_ms, double read_wait_ms) {
  LoadSummary summary;
  summary.ttft_ms.p50 = ttft_ms;
  summary.itl_ms.p50 = itl_ms;
  summary.read_wait_ms.p99 = read_wait_ms;
  return summary;
}

TEST(ClientHealth, NothingIsSaidOfAClientThatKeptUp) {
  EXPECT_THAT(client_warnings(kWell, summary_with(100, 10, 1)), IsEmpty());
  EXPECT_THAT(client_warnings({}, {}), IsEmpty());
}

TEST(ClientHealth, LateTimers) {
  ClientHealth health = kWell;
  health.loop_delay_ms = 80;
  EXPECT_THAT(client_warnings(health, summary_with(100, 10, 1)), ElementsAre(HasSubstr("its own timers were up to 80 ms late")));
  EXPECT_THAT(client_warnings(health, summary_with(1000, 10, 1)), IsEmpty());   // small beside what was measured
}

TEST(ClientHealth, BytesThatLayUnread) {
  EXPECT_THAT(client_warnings(kWell, summary_with(100, 10, 7.5)), ElementsAre(HasSubstr("lay unread for up to 7.5 ms (p99)")));
  EXPECT_THAT(client_warnings(kWell, summary_with(100, 50, 7.5)), IsEmpty());
}

TEST(ClientHealth, ABusyCore) {
  ClientHealth health = kWell;
  health.cpu_s = 8.5;
  EXPECT_THAT(client_warnings(health, summary_with(100, 10, 1)), ElementsAre("client was the bottleneck: it kept one core busy"));
  health.elapsed_s = 0.4, health.cpu_s = 0.4;
  EXPECT_THAT(client_warnings(health, summary_with(100, 10, 1)), IsEmpty());    // too short a run to tell
}

TEST(ClientHealth, WaitingForACpu) {
  ClientHealth health = kWell;
  health.waited_s = 1.2;
  EXPECT_THAT(client_warnings(health, summary_with(100, 10, 1)), ElementsAre(HasSubstr("waited for a CPU during 12 % of the run")));
}

TEST(ClientHealth, AThreadsCostGrowsWithWork) {
  const ThreadCost before = thread_cost();
  volatile double sum = 0;
  while (thread_cost().cpu_s < before.cpu_s + 0.01) sum = sum + 1;
  EXPECT_GE(thread_cost().waited_s, before.waited_s);
}

}  // namespace
}  // namespace hyperloom

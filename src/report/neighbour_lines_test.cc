#include "report/neighbour_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

LegRecord leg(const std::string& id, double foreign, std::optional<double> speed) {
  LegRecord record;
  record.plan.id = id;
  record.plan.purpose = "stock";
  record.done.emplace();
  record.done->result.emplace();
  Neighbours& n = record.done->result->neighbours;
  n.seconds = 5, n.foreign_cpu = foreign, n.speed_msteps_s = speed;
  return record;
}

TEST(NeighbourLines, SaysWhatWasSeenAndWhatVoids) {
  SessionState state;
  EXPECT_TRUE(neighbour_lines(state).empty());
  state.probe.emplace();
  EXPECT_THAT(neighbour_lines(state), ElementsAre(HasSubstr("0.10 cores on average")));
  state.probe->neighbour_limits.legs = 30;
  state.probe->neighbour_limits.limits.foreign_cpu = 0.12;
  state.legs = {leg("L1", 0.02, 990), leg("L2", 0.06, 1010)};
  const auto lines = neighbour_lines(state);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("0.12 cores on average"));
  EXPECT_THAT(lines[0], HasSubstr("learned from 30 legs"));
  EXPECT_THAT(lines[1], HasSubstr("others used 0.04 cores on average (0.06 in the worst leg)"));
  EXPECT_THAT(lines[1], HasSubstr("to within 1.4 %"));
  EXPECT_THAT(lines[1], Not(HasSubstr("clock")));
}

TEST(NeighbourLines, VoidLegsWithTheirReasonsAndNotTheServersOwnFailures) {
  SessionState state;
  state.legs = {leg("L1", 0, {}), leg("L2", 0, {}), leg("L3", 0, {})};
  state.legs[1].void_reason = "the hypervisor took 0.20 cores (limit 0.05)";
  state.legs[2].done->result.reset();
  state.legs[2].done->failure = Failure{"died", "died", "gone", "flags", ""};
  state.legs[2].void_reason = "the incumbent failed";
  EXPECT_THAT(void_lines(state), ElementsAre("L2 (stock): the hypervisor took 0.20 cores (limit 0.05)"));
}

}  // namespace
}  // namespace hyperloom

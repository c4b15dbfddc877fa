#include "os/host_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace hyperloom {
namespace {

std::vector<HostLeg> legs(int n, double foreign, double spread) {
  std::vector<HostLeg> all;
  for (int i = 0; i < n; ++i) {
    const double value = foreign + (i % 5 - 2) * spread;
    all.push_back({value, 4 * value, 0});
  }
  return all;
}

void expect_defaults(const LearnedLimits& l) {
  EXPECT_EQ(l.legs, 0);
  EXPECT_EQ(Json(l), Json(LearnedLimits()));
}

TEST(LearnedLimits, FewLegsTeachNothing) {
  expect_defaults(learned_limits({}));
  expect_defaults(learned_limits(legs(kLeastHostLegs - 1, 0.01, 0.001)));
}

TEST(LearnedLimits, AHostThatIsAlwaysALittleBusyMayBe) {
  const LearnedLimits l = learned_limits(legs(20, 0.11, 0.005));
  EXPECT_EQ(l.legs, 20);
  EXPECT_NEAR(l.limits.foreign_cpu, 0.11 + 4 * 1.4826 * 0.005, 1e-9);
  EXPECT_NEAR(l.limits.foreign_cpu_peak, 0.44 + 4 * 1.4826 * 0.02, 1e-9);
}

TEST(LearnedLimits, NeverBeyondTheCapAndNeverBelowHalf) {
  EXPECT_DOUBLE_EQ(learned_limits(legs(20, 0.13, 0.03)).limits.foreign_cpu, 0.20);
  const LearnedLimits quiet = learned_limits(legs(20, 0.002, 0.0001));
  EXPECT_DOUBLE_EQ(quiet.limits.foreign_cpu, 0.05);
  EXPECT_DOUBLE_EQ(quiet.limits.foreign_cpu_peak, 0.3);
  EXPECT_DOUBLE_EQ(quiet.limits.steal, 0.025);
}

TEST(LearnedLimits, SwappingHeatAndStrangersAreNeverNormal) {
  const LearnedLimits l = learned_limits(legs(50, 0.1, 0.02));
  EXPECT_EQ(l.limits.swap_mib, NeighbourLimits().swap_mib);
  EXPECT_EQ(l.limits.throttles, 0);
  EXPECT_EQ(l.limits.gpu_slowed, NeighbourLimits().gpu_slowed);
}

TEST(LearnedLimits, ABusyHourTeachesNothing) {
  auto some = legs(20, 0.02, 0.001);
  const auto busy = legs(15, 1.5, 0.1);
  some.insert(some.end(), busy.begin(), busy.end());
  EXPECT_DOUBLE_EQ(learned_limits(some).limits.foreign_cpu, 0.05);
  EXPECT_EQ(learned_limits(some).legs, 20);
  some.insert(some.end(), busy.begin(), busy.end());
  expect_defaults(learned_limits(some));   // mostly busy: what is normal here is not known
}

TEST(LearnedLimits, JsonKeepsAll) {
  const LearnedLimits l = learned_limits(legs(20, 0.11, 0.005));
  EXPECT_EQ(Json(Json(l).get<LearnedLimits>()), Json(l));
  EXPECT_EQ(Json(l).size(), 7u);
}

TEST(HostMemory, RemembersTheLatestAcrossProcesses) {
  const TempDir dir;
  HostMemory one(dir.path() / "hosts", "abc"), other(dir.path() / "hosts", "abc");
  EXPECT_TRUE(one.legs().empty());
  one.remember({0.1, 0.2, 0.3});
  other.remember({0.4, 0.5, 0.6});
  const HostMemory again(dir.path() / "hosts", "abc");
  ASSERT_EQ(again.legs().size(), 2u);
  EXPECT_EQ(again.legs()[0].steal, 0.3);
  EXPECT_EQ(again.legs()[1].foreign_cpu_peak, 0.5);
  EXPECT_TRUE(HostMemory(dir.path() / "hosts", "abd").legs().empty());
  for (size_t i = 0; i < kMostHostLegs; ++i) one.remember({1, 1, 1});
  EXPECT_EQ(HostMemory(dir.path() / "hosts", "abc").legs().size(), kMostHostLegs);
  EXPECT_EQ(one.legs().front().foreign_cpu, 1);
}

TEST(HostMemory, ADamagedFileIsForgottenAndADiskThatRefusesIsNoError) {
  const TempDir dir;
  for (const char* text : {"", "{", "[]", R"({"legs": [[1]]})", R"({"legs": [["a", 1, 1]]})", R"({"legs": 7})"}) {
    write_file(dir.path() / "h.json", text);
    EXPECT_TRUE(HostMemory(dir.path(), "h").legs().empty()) << text;
  }
  HostMemory memory(dir.path(), "h");
  memory.remember({0.1, 0.2, std::nan("")});
  memory.remember({-1, 0, 0});
  memory.remember({0.1, 0.2, 0.3});
  EXPECT_EQ(HostMemory(dir.path(), "h").legs().size(), 1u);
  HostMemory nowhere(dir.path() / "h.json" / "below a file", "h");
  nowhere.remember({0.1, 0.2, 0.3});
  EXPECT_EQ(nowhere.legs().size(), 1u);
}

TEST(HostMemory, RemembersNoiseByWhatWasMeasured) {
  const TempDir dir;
  HostMemory memory(dir.path(), "h");
  EXPECT_FALSE(memory.noise("a"));
  memory.remember({0.1, 0.2, 0.3});
  memory.remember_noise("a", {64, {0.01, -0.02}});
  memory.remember({0.1, 0.2, 0.3});
  const HostMemory again(dir.path(), "h");
  EXPECT_EQ(again.legs().size(), 2u);
  EXPECT_EQ(again.noise("a")->requests, 64);
  EXPECT_EQ(again.noise("a")->values, (std::vector<double>{0.01, -0.02}));
  for (int i = 0; i < 60; ++i) memory.remember_noise("k" + std::to_string(i), {1, {0.1}});
  memory.remember_noise("0", {2, {0.2}});
  EXPECT_EQ(HostMemory(dir.path(), "h").noise("0")->requests, 2);
  EXPECT_FALSE(HostMemory(dir.path(), "h").noise("a"));
}

TEST(EarlierNoise, ShorterLegsAreNoisierLongerOnesNotTakenForQuieter) {
  const EarlierNoise noise{400, {0.01}};
  EXPECT_DOUBLE_EQ(noise.scaled_to(100).at(0), 0.02);
  EXPECT_DOUBLE_EQ(noise.scaled_to(1600).at(0), 0.01);
  EXPECT_DOUBLE_EQ(noise.scaled_to(0).at(0), 0.01);
}

TEST(HostId, TellsMachinesApart) {
  EXPECT_EQ(host_id("a").size(), 12u);
  EXPECT_EQ(host_id("a"), host_id("a"));
  EXPECT_NE(host_id("a"), host_id("b"));
}

}  // namespace
}  // namespace hyperloom

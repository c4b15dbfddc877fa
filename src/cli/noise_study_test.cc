#include "cli/noise_study.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "load/random.h"

namespace hyperloom {
namespace {

std::vector<double> noise(int n, double sd, uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(sd * random.normal());
  return values;
}

TEST(Kinds, OneKindOfBoot) {
  for (uint64_t seed = 1; seed <= 20; ++seed) EXPECT_FALSE(kinds_of(noise(16, 0.01, seed)).two()) << seed;
  EXPECT_FALSE(kinds_of({}).two());
  EXPECT_FALSE(kinds_of({1, 1, 1, 1}).two());
}

TEST(Kinds, TwoKindsOfBoots) {
  std::vector<double> values = noise(16, 0.002, 3);
  for (size_t i = 0; i < 5; ++i) values[3 * i] -= 0.04;
  const Kinds kinds = kinds_of(values);
  EXPECT_TRUE(kinds.two());
  EXPECT_EQ(kinds.slow, 5);
  EXPECT_EQ(kinds.fast, 11);
  EXPECT_NEAR(kinds.gap_log, 0.04, 0.01);
}

TEST(Kinds, OneOddBootIsNoKind) {
  std::vector<double> values = noise(16, 0.002, 4);
  values[7] -= 0.3;
  EXPECT_FALSE(kinds_of(values).two());
}

TEST(Slope, PerStep) {
  EXPECT_NEAR(slope({1, 3, 2, 5, 4}), 0.8, 1e-12);
  EXPECT_EQ(slope({5}), 0);
}

TEST(Kinds, HowOftenOneKindShowsSuchAGap) {
  EXPECT_EQ(chance_of_gap(16, 0, 1), 1);
  const double at_limit = chance_of_gap(16, Kinds::kTwo, 1);
  EXPECT_GT(chance_of_gap(16, 0.5, 1), 0.3);
  EXPECT_LT(at_limit, 0.03) << "the limit for two kinds is rarely reached by one";
  EXPECT_EQ(chance_of_gap(16, Kinds::kTwo, 1), at_limit);
}

TEST(Drift, IntervalCoversNoDriftAsOftenAsItSays) {
  int missed = 0;
  constexpr int kRuns = 1000;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) missed += drift_of(noise(16, 0.01, seed)).seen();
  EXPECT_GT(missed, kRuns * 0.03);
  EXPECT_LT(missed, kRuns * 0.07);
}

TEST(Drift, SeesASteadyOneAndMatchesItsT) {
  std::vector<double> values = noise(16, 0.001, 2);
  for (size_t i = 0; i < values.size(); ++i) values[i] -= 0.002 * static_cast<double>(i);
  const Drift drift = drift_of(values);
  EXPECT_TRUE(drift.seen());
  EXPECT_LT(drift.low, -0.002);
  EXPECT_GT(drift.high, -0.002);
  // Half width = t quantile (14 df) times the standard error that slope_t divides by.
  EXPECT_NEAR((drift.high - drift.per_leg) / (drift.per_leg / drift.t), 2.1448, 1e-3);
  EXPECT_FALSE(drift_of({1, 2}).seen()) << "two boots are always on a line";
}

TEST(Resampling, KeepsThePromiseOnQuietNoiseAndIsRepeatable) {
  const std::vector<double> differences = noise(8, 0.01, 5);
  const FalseKeeps keeps = resample_sessions(differences, 200, 0.05, 20, 6, 1);
  EXPECT_EQ(keeps.sessions.of, 200);
  EXPECT_EQ(keeps.comparisons.of, 4000);
  EXPECT_LT(keeps.sessions.low, 0.05);
  EXPECT_GT(keeps.looks, 4000);
  EXPECT_EQ(resample_sessions(differences, 200, 0.05, 20, 6, 1).looks, keeps.looks);
}

TEST(Resampling, SeesALaxAlpha) {
  const FalseKeeps lax = resample_sessions(noise(8, 0.01, 5), 300, 0.9, 1, 6, 1);
  EXPECT_GT(lax.comparisons.value(), 0.02);
  EXPECT_THROW(resample_sessions({}, 1, 0.05, 20, 6, 1), Error);
}

TEST(Walk, UsesEachPairOnceAndCountsWhatIsDecided) {
  EXPECT_EQ(walk_session(noise(6, 0.01, 5), 0.05, 20, 6).comparisons, 0);
  const Walked quiet = walk_session(noise(106, 0.004, 5), 0.05, 20, 6);
  EXPECT_GE(quiet.comparisons, 10);
  EXPECT_LE(quiet.comparisons, 100);
  EXPECT_EQ(quiet.kept, 0);
  std::vector<double> gain = noise(26, 0.004, 5);
  for (size_t i = 6; i < gain.size(); ++i) gain[i] += 0.2;
  EXPECT_GE(walk_session(gain, 0.05, 20, 6).kept, 1);
}

NoiseStudy study(double sd) {
  NoiseStudy s;
  s.differences = noise(8, sd, 6);
  for (double v : noise(16, sd, 7)) s.legs.push_back({v, 200, 10, 0.01, 0, {}});
  s.governor = "performance";
  s.cores = 4;
  return s;
}

TEST(NoiseText, QuietHostNeedsNothing) {
  const std::string text = to_text(study(0.003), 0.05, 20, 1, 40);
  EXPECT_NE(text.find("pairs needed    1 %: "), std::string::npos) << text;
  EXPECT_NE(text.find("5 %: 5\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("to change"), std::string::npos) << text;
}

TEST(NoiseText, SaysWhatToChange) {
  NoiseStudy s = study(0.02);
  s.governor = "powersave";
  for (AaLeg& leg : s.legs) leg.foreign_cpu = 0.3, leg.steal = 0.1, leg.window_s = 1;
  s.voids = {{"other processes used 0.41 cores", {}}, {"other processes used 0.52 cores", {}}, {"swap", {}}};
  const std::string text = to_text(s, 0.05, 20, 1, 40);
  for (const char* part : {"governor is powersave", "other processes used 0.30 cores", "hypervisor", "only 1.0 s", "void legs       3 of 19",
                           "2 x other processes", "1 x swap", "many legs were void", "1 %: more than 10"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(NoiseText, NamesWhoDisturbsAndWhatElseWasSeen) {
  NoiseStudy s = study(0.003);
  s.numa_nodes = 2;
  double speed = 900;
  for (AaLeg& leg : s.legs) {
    leg.seen.seconds = 10;
    leg.seen.busiest = {{"updatedb", 0.2}, {"node", 0.03}};
    leg.seen.memory_stalled = 0.05, leg.seen.io_stalled = 0.3, leg.seen.run_queue_delay = 0.1;
    leg.seen.speed_msteps_s = speed += 20;
    leg.seen.throttles = 1;
    leg.seen.gpus.resize(1);
    leg.seen.gpus[0].vendor = "nvidia", leg.seen.gpus[0].ours = true;
    leg.seen.gpus[0].clock_mhz = 1800, leg.seen.gpus[0].clock_lowest_mhz = 1200;
  }
  s.busy_now = {"cc1plus 1.9 cores"};
  const std::string text = join(advice(s), "\n");
  for (const char* part : {"(updatedb 0.20, node 0.03)", "busy right now: cc1plus 1.9 cores", "waited 10.0 % of their time", "2 NUMA nodes",
                           "own speed differs by", "slowed down for heat", "lock-gpu-clocks", "waited for memory 5 %", "waited for disks 30 %"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(NoiseJson, HoldsWhatTheTextSays) {
  NoiseStudy s = study(0.003);
  s.voids = {{"swapped 3 MiB", {}}};
  const Json json = to_json_value(s, 0.05, 20, 1, 40);
  EXPECT_EQ(json.at("pairs"), 8);
  EXPECT_EQ(json.at("legs").size(), 16u);
  EXPECT_EQ(json.at("void_legs").at(0).at("reason"), "swapped 3 MiB");
  EXPECT_EQ(json.at("boots").at("kinds"), 1);
  EXPECT_LT(json.at("drift_log_per_leg").at("low"), json.at("drift_log_per_leg").at("high"));
  EXPECT_EQ(json.at("false_keeps").at("sessions").at("of"), 40);
  EXPECT_EQ(json.at("pairs_needed").back().at("gain"), 0.05);
  EXPECT_TRUE(json.at("advice").empty()) << json.at("advice");
  NoiseStudy few;
  few.failures = {"died"};
  const Json little = to_json_value(few, 0.05, 20, 1, 40);
  EXPECT_FALSE(little.contains("false_keeps") || little.contains("boots") || little.contains("pair_sd_log"));
  EXPECT_EQ(little.at("failed_legs").at(0), "died");
}

TEST(NoiseText, TooFewPairs) {
  NoiseStudy s;
  s.voids = {{"stopped", {}}};
  EXPECT_NE(to_text(s, 0.05, 20, 1, 40).find("too few pairs"), std::string::npos);
}

TEST(Study, SaysWhichLegsFailed) {
  NoiseStudy s = study(0.003);
  s.failures = {"killed by signal 11", "port in use"};
  const std::string text = to_text(s, 0.05, 20, 1, 40);
  EXPECT_NE(text.find(fmt::format("failed legs     2 of {}, the last: port in use", s.legs.size() + s.voids.size() + 2)), std::string::npos) << text;
}

TEST(Study, LegsAreSavedInOrder) {
  NoiseStudy s;
  s.legs = {{1.5, 64, 10, 0.01, 0, {}}, {1.25, 64, 11, 0, 0, {}}, {2, 32, 9, 0, 0.5, {}}, {0, 1, 1, 0, 0, {}}};
  s.legs[3].seen.seconds = 2;
  std::istringstream lines(to_json_lines(s));
  std::vector<Json> read;
  for (std::string line; std::getline(lines, line);) read.push_back(Json::parse(line));
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read.at(3).at("neighbours").at("seconds"), 2);
  EXPECT_EQ(read.at(1).at("pair"), 1);
  EXPECT_EQ(read.at(2), Json({{"pair", 2}, {"log_value", 2.0}, {"requests", 32}, {"window_s", 9.0}, {"foreign_cpu", 0.0}, {"steal", 0.5}}));
}

}  // namespace
}  // namespace hyperloom

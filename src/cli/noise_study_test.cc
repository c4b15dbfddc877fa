#include "cli/noise_study.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
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
  for (double v : noise(16, sd, 7)) s.legs.push_back({v, 200, 10, 0.01, 0});
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
  s.voids = {{"other processes used 0.41 cores"}, {"other processes used 0.52 cores"}, {"swap"}};
  const std::string text = to_text(s, 0.05, 20, 1, 40);
  for (const char* part : {"governor is powersave", "other processes used 0.30 cores", "hypervisor", "only 1.0 s", "void legs       3 of 19",
                           "2 x other processes", "1 x swap", "many legs were void", "1 %: more than 10"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(NoiseText, TooFewPairs) {
  NoiseStudy s;
  s.voids = {{"stopped"}};
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
  s.legs = {{1.5, 64, 10, 0.01, 0}, {1.25, 64, 11, 0, 0}, {2, 32, 9, 0, 0.5}, {0, 1, 1, 0, 0}};
  std::istringstream lines(to_json_lines(s));
  std::vector<Json> read;
  for (std::string line; std::getline(lines, line);) read.push_back(Json::parse(line));
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read.at(1).at("pair"), 1);
  EXPECT_EQ(read.at(2), Json({{"pair", 2}, {"log_value", 2.0}, {"requests", 32}, {"window_s", 9.0}, {"foreign_cpu", 0.0}, {"steal", 0.5}}));
}

}  // namespace
}  // namespace hyperloom

#include "stats/paired_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace hyperloom {
namespace {

std::vector<int> repeated(int count, int x) { return std::vector<int>(static_cast<size_t>(count), x); }

TEST(PairedShares, LooksAreAnEighthAQuarterHalfAndAll) {
  EXPECT_EQ(share_looks(1319), (std::vector<int>{164, 329, 659, 1319}));
  EXPECT_EQ(share_looks(160), (std::vector<int>{20, 40, 80, 160}));
  EXPECT_EQ(share_looks(3), (std::vector<int>{1, 3}));
  EXPECT_TRUE(share_looks(0).empty());
}

// By hand: mean of 1.1^10, 1.3^10, 1.6^10, 1.9^10; the fourteenth loss in a row passes 1000.
TEST(PairedShares, EvidenceOfALosingStreakInClosedForm) {
  const ShareLook ten = judge_shares(repeated(10, 1), {});
  EXPECT_NEAR(ten.e_value, (std::pow(1.1, 10) + std::pow(1.3, 10) + std::pow(1.6, 10) + std::pow(1.9, 10)) / 4, 1e-9);
  EXPECT_NEAR(ten.e_value, 184.86, 0.01);
  EXPECT_EQ(ten.verdict, ShareVerdict::Continue);
  const ShareLook dead = judge_shares(repeated(40, 1), {});
  EXPECT_EQ(dead.verdict, ShareVerdict::Worse);
  EXPECT_EQ(dead.n, 13);   // 1.9^13 / 4 = 1051
  EXPECT_EQ(dead.drop, 1);
}

// By hand: 0 discordant of 40, margin 0.1: variance 2/40, z = 0.1 / sqrt(0.05 / 40) = 2.828, p = 0.00234.
TEST(PairedShares, ALookInClosedForm) {
  const ShareTest test{.margin = 0.1, .looks = {20, 40, 80, 160}};
  const ShareLook early = judge_shares(repeated(20, 0), test);
  EXPECT_EQ(early.verdict, ShareVerdict::Continue);
  EXPECT_NEAR(early.p, 0.0786, 1e-4);
  EXPECT_NEAR(early.bound, 0.06 * 20 / 300, 1e-12);
  const ShareLook pass = judge_shares(repeated(160, 0), test);
  EXPECT_EQ(pass.verdict, ShareVerdict::Held);
  EXPECT_EQ(pass.n, 40);
  EXPECT_NEAR(pass.p, 0.002339, 1e-6);
}

TEST(PairedShares, TheFirstDecisionStands) {
  std::vector<int> items = repeated(60, 0);
  const std::vector<int> losses = repeated(30, 1);
  items.insert(items.end(), losses.begin(), losses.end());
  const ShareTest test{.margin = 0.1, .looks = {20, 40, 80, 160}};
  EXPECT_EQ(judge_shares(items, test).n, 40);
  EXPECT_EQ(judge_shares(items, test).verdict, ShareVerdict::Held);
  // Between looks nothing passes, but everything may be killed.
  std::rotate(items.begin(), items.begin() + 60, items.end());
  EXPECT_EQ(judge_shares(items, test).n, 13);
}

TEST(PairedShares, NoProofAtTheLastLookIsUnproven) {
  std::vector<int> items;
  for (int i = 0; i < 160; i++) items.push_back(i % 4 == 0 ? 1 : i % 4 == 2 ? -1 : 0);
  const ShareTest test{.margin = 0.02, .looks = share_looks(160)};
  EXPECT_EQ(judge_shares(items, test).verdict, ShareVerdict::Unproven);
  items.pop_back();
  EXPECT_EQ(judge_shares(items, test).verdict, ShareVerdict::Continue);
  EXPECT_EQ(judge_shares({}, test).verdict, ShareVerdict::Continue);
}

TEST(PairedShares, RefusesWhatWouldVoidItsRates) {
  EXPECT_THROW(judge_shares({2}, {}), Error);
  EXPECT_THROW(judge_shares({0}, {.margin = 0}), Error);
  EXPECT_THROW(judge_shares({0}, {.looks = {40, 20}}), Error);
}

struct Tally { double killed = 0, held = 0, mean_items = 0, median_killed_at = 0; };

Tally simulate(double lost, double won, const ShareTest& test, int replications, int count = 1319) {
  std::mt19937_64 random(20261206);
  std::uniform_real_distribution<double> uniform(0, 1);
  Tally tally;
  std::vector<double> killed_at;
  std::vector<int> items(static_cast<size_t>(count));
  for (int r = 0; r < replications; r++) {
    for (int& x : items) {
      const double u = uniform(random);
      x = u < lost ? 1 : u < lost + won ? -1 : 0;
    }
    const ShareLook look = judge_shares(items, test);
    tally.killed += look.verdict == ShareVerdict::Worse;
    tally.held += look.verdict == ShareVerdict::Held;
    tally.mean_items += look.n;
    if (look.verdict == ShareVerdict::Worse) killed_at.push_back(look.n);
  }
  tally.killed /= replications, tally.held /= replications, tally.mean_items /= replications;
  std::sort(killed_at.begin(), killed_at.end());
  if (!killed_at.empty()) tally.median_killed_at = killed_at[killed_at.size() / 2];
  return tally;
}

// The published operating characteristics; the seed is fixed, the bands are four standard errors.
TEST(PairedShares, KillsAsPublished) {
  EXPECT_NEAR(simulate(0.6, 0, {}, 1000).median_killed_at, 22, 2);
  EXPECT_NEAR(simulate(0.175, 0.075, {}, 600).median_killed_at, 378, 40);
  EXPECT_NEAR(simulate(0.10, 0.05, {}, 500).killed, 0.81, 0.07);   // 5 points, 15 % discordant
  for (double half : {0.01, 0.05, 0.125, 0.25}) EXPECT_LE(simulate(half, half, {}, 500).killed, 0.004) << half;
}

TEST(PairedShares, PassesAsPublished) {
  const ShareTest two{.margin = 0.02, .looks = {165, 330, 660, 1319}};
  const Tally none = simulate(0.01, 0.01, two, 800);    // 2 % discordant
  EXPECT_NEAR(none.held, 1.0, 0.01);
  EXPECT_NEAR(none.mean_items, 544, 50);
  const Tally some = simulate(0.025, 0.025, two, 800);  // 5 %
  EXPECT_NEAR(some.held, 0.92, 0.04);
  EXPECT_NEAR(some.mean_items, 873, 60);
  EXPECT_NEAR(simulate(0.05, 0.05, {.margin = 0.03, .looks = two.looks}, 500).held, 0.95, 0.04);
}

TEST(PairedShares, OnTheMarginItPassesOneInTwenty) {
  // The session's own plan: 160 items, 10 points; and the published one.
  const ShareTest ours{.margin = 0.1, .looks = share_looks(160)};
  for (double won : {0.0, 0.025, 0.05, 0.1}) EXPECT_LE(simulate(0.1 + won, won, ours, 2000, 160).held, 0.075) << won;
  const ShareTest two{.margin = 0.02, .looks = {165, 330, 660, 1319}};
  for (double won : {0.015, 0.04}) EXPECT_LE(simulate(0.02 + won, won, two, 1000).held, 0.08) << won;
  for (double half : {0.01, 0.025, 0.05}) EXPECT_GE(simulate(half, half, ours, 1000, 160).held, 0.97) << half;
}

}  // namespace
}  // namespace hyperloom

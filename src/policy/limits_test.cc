#include "policy/limits.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hyperloom {
namespace {

// Stock legs, and comparisons whose pairs carry a TTFT p95; the limit is 500 ms.
struct Scene {
  SessionState s;
  TestPlan plan;

  Scene() {
    s.enabled = Enabled{.build = "native"};
    s.workload.objective.limits = {{"ttft", 95, 500}};
  }
  std::string add_leg(const std::string& purpose, double ttft_ms) {
    LegRecord leg;
    const std::string id = "L" + std::to_string(s.legs.size());
    leg.plan = {.id = id, .purpose = purpose};
    leg.done = LegDone{.id = id, .result = LegResult{}};
    leg.done->result->value = 100;
    if (ttft_ms > 0) leg.done->result->load.ttft_ms = {.p95 = ttft_ms, .count = 20};
    s.leg_index[id] = s.legs.size();
    s.legs.push_back(leg);
    return id;
  }
  void add_stock(const std::vector<double>& ttft_ms) {
    for (double ms : ttft_ms) add_leg("stock", ms);
  }
  Comparison& add_comparison(const std::vector<std::pair<double, double>>& ttft_ms) {
    Comparison c;
    c.intent = {.id = "C" + std::to_string(s.comparisons.size() + 1), .kind = "compare"};
    for (const auto& [a, b] : ttft_ms)
      c.pairs.push_back({c.intent.id, add_leg("pair", a), add_leg("pair", b), static_cast<int>(c.pairs.size()), 0.1});
    s.comparisons.push_back(c);
    return s.comparisons.back();
  }
  LimitGuards guards() { return guard_limits(s, s.comparisons.back(), plan); }
};

TEST(LimitGuards, UnprovenWhereStockSaysNothingOfTheNoise) {
  for (const std::vector<double>& stock : {std::vector<double>{}, {400}, {0, 0, 0}}) {
    Scene scene;
    scene.add_stock(stock);
    scene.add_comparison({{400, 400}, {400, 401}, {400, 399}});
    LimitGuards guards = scene.guards();
    EXPECT_FALSE(guards.all_pass);
    ASSERT_EQ(guards.lines.size(), 1u);
    EXPECT_NE(guards.lines[0].find("no stock legs"), std::string::npos) << guards.lines[0];
  }
}

TEST(LimitGuards, UnprovenWithFewerThanTwoPairsThatHaveTheMetric) {
  Scene scene;
  scene.add_stock({400, 402, 398, 401});
  scene.add_comparison({{400, 400}, {400, 0}, {0, 400}});
  EXPECT_FALSE(scene.guards().all_pass);
  EXPECT_NE(scene.guards().lines[0].find("too few pairs"), std::string::npos);
}

TEST(LimitGuards, EarlierComparisonsTeachTheNoise) {
  Scene scene;
  scene.add_stock({400, 402});   // one degree of freedom: nothing can pass
  scene.add_comparison({{400, 404}, {400, 396}, {400, 402}, {400, 398}, {400, 403}, {400, 397}, {400, 401}, {400, 399}});
  scene.s.comparisons[0].decided = Decided{.comparison = "C1", .verdict = "not_useful"};
  scene.add_comparison({{400, 400}, {400, 401}, {400, 399}, {400, 402}});
  EXPECT_TRUE(scene.guards().all_pass);
  scene.s.comparisons[0].decided->verdict = "abandoned";
  EXPECT_FALSE(scene.guards().all_pass);
}

TEST(LimitGuards, RescueNeedsTheLeastNumberOfPairs) {
  Scene scene;
  scene.add_stock({800, 802, 798, 801, 799, 800, 802, 798, 800});
  scene.add_comparison({{800, 200}, {800, 201}});
  EXPECT_TRUE(scene.guards().may_rescue);
  EXPECT_FALSE(scene.guards().rescues);
  scene.s.comparisons.pop_back();
  scene.add_comparison({{800, 200}, {800, 201}, {800, 199}});
  EXPECT_TRUE(scene.guards().rescues);
}

}  // namespace
}  // namespace hyperloom

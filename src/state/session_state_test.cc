#include "state/session_state.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hyperloom {
namespace {

struct Tale {
  SessionState s;
  void tell(const std::string& type, Json body) {
    Entry e;
    e.type = type;
    e.body = std::make_shared<const Json>(std::move(body));
    apply(s, e);
  }
  void start(const std::string& id, int pair, const std::string& arm, int attempt) {
    LegPlan plan{.id = id, .purpose = "pair", .group = "C1", .arm = arm, .pair = pair, .attempt = attempt};
    tell("leg.started", {{"plan", plan}});
  }
  void done(const std::string& id, double value, double cost_s) {
    LegDone leg{.id = id, .cost_s = cost_s};
    leg.result = LegResult{};
    leg.result->value = value;
    tell("leg.done", leg);
  }
  Tale() {
    Json enabled = Enabled{.build = "native"};
    enabled["what"] = "enabled";
    tell("probe", enabled);
    Intent propose{.id = "P1", .kind = "propose"}, compare{.id = "C1", .kind = "compare", .proposal = "P1"};
    tell("intent", propose);
    tell("intent", compare);
  }
};

TEST(Fold, AKilledHalfPairIsVoidAndItsTimeGivenBack) {
  Tale t;
  t.start("L1", 0, "a", 0);
  t.done("L1", 100, 15);
  t.start("L2", 0, "b", 0);
  t.tell("session.resumed", Json::object());
  EXPECT_EQ(t.s.leg("L1")->void_reason, "half pair at resume");
  EXPECT_EQ(t.s.leg("L2")->void_reason, "interrupted");
  EXPECT_EQ(t.s.spent_s, 0);
}

TEST(Fold, BothHalvesFinishedCountThoughThePairWasNotWrittenYet) {
  Tale t;
  t.start("L1", 0, "a", 0);
  t.done("L1", 100, 15);
  t.start("L2", 0, "b", 0);
  t.done("L2", 110, 15);
  t.tell("session.resumed", Json::object());
  EXPECT_TRUE(t.s.leg("L1")->good());
  EXPECT_TRUE(t.s.leg("L2")->good());
  EXPECT_EQ(t.s.spent_s, 30);
}

TEST(Fold, WhatOtherLoadSpoiledStaysPaidFor) {
  Tale t;
  t.start("L1", 0, "a", 0);
  t.done("L1", 100, 15);
  t.start("L2", 0, "b", 0);
  t.tell("leg.void", LegVoid{"L2", "foreign load 0.4 cores", 12});
  t.start("L3", 0, "a", 1);
  t.done("L3", 100, 15);
  t.start("L4", 0, "b", 1);
  t.done("L4", 110, 15);
  t.tell("pair.done", PairDone{"C1", "L3", "L4", 0, 0.095});
  EXPECT_EQ(t.s.spent_s, 57);
  t.tell("session.resumed", Json::object());
  EXPECT_EQ(t.s.spent_s, 57);
  EXPECT_TRUE(t.s.leg("L1")->void_reason.empty());
}

TEST(Fold, AnEarlierDaysNoiseStartsThePool) {
  Tale t;
  ProbeEvent probe;
  probe.earlier_noise = EarlierNoise{400, {0.01, -0.01, 0.01, -0.01, 0.01}};
  Json machine = probe;
  machine["what"] = "machine";
  t.tell("probe", machine);
  Json enabled = Enabled{.build = "native", .leg_requests = 100};
  enabled["what"] = "enabled";
  t.tell("probe", enabled);
  double value = 100;
  for (const char* id : {"S1", "S2", "S3", "S4"}) {
    t.tell("leg.started", {{"plan", LegPlan{.id = id, .purpose = "stock", .group = "stock"}}});
    t.done(id, value += 0.1, 10);
  }
  t.tell("probe", {{"what", "noise"}});
  EXPECT_EQ(t.s.pool.df(), 3 + NoisePool::kMostEarlier);
  EXPECT_DOUBLE_EQ(t.s.pool.values().back(), -0.02) << "a quarter of the requests: twice the noise";
  t.s.probe->earlier_noise.reset();
  EXPECT_EQ(first_pool(t.s).df(), 3);
}

TEST(Fold, ASweepPointShowsThePresentIncumbentOnly) {
  Tale t;
  auto leg = [&](const std::string& id, const std::string& arm, const Candidate& candidate, double value) {
    LegPlan plan{.id = id, .purpose = "sweep", .group = "c1-p128-o64", .arm = arm, .candidate = candidate, .clients = 1};
    t.tell("leg.started", {{"plan", plan}});
    t.done(id, value, 10);
  };
  leg("L1", "a", {}, 50);
  leg("L2", "b", Candidate{}.with({"flag", "-np", "8"}), 60);
  leg("L3", "b", Candidate{}.with({"flag", "-np", "16"}), 70);
  ASSERT_EQ(t.s.sweep.size(), 1u);
  EXPECT_EQ(t.s.sweep[0].stock, std::vector<double>{50});
  EXPECT_EQ(t.s.sweep[0].best, std::vector<double>{70});
}

TEST(Fold, UnknownNotesOfOthersAreSkipped) {
  Tale t;
  t.tell("x-somebody-else", {{"anything", 1}});
  EXPECT_TRUE(t.s.legs.empty());
}

}  // namespace
}  // namespace hyperloom

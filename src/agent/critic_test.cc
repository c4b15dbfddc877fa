#include <gtest/gtest.h>

#include <cmath>

#include "agent/built_in.h"

namespace hyperloom {
namespace {

// A comparison of three clean pairs at +10 %, six stock legs before it.
struct Scene {
  SessionState s;
  Pack pack;
  BuiltInCritic critic;
  Change change{"flag", "-np", "8"};

  Scene() {
    pack.effective["-np"] = "GET /props#/total_slots";
    s.enabled = Enabled{.build = "native"};
    s.workload.objective.maximize = "output_tok_s";
    for (int i = 0; i < 6; i++) add_leg("S" + std::to_string(i), "stock", {}, 100 * std::exp(0.002 * (i % 3 - 1)), "t");
    Comparison c;
    c.intent = {.id = "C1", .kind = "compare", .change = change};
    c.intent.b = Candidate{}.with(change);
    std::vector<double> ratios;
    for (int i = 0; i < 3; i++) {
      std::string n = std::to_string(i);
      add_leg("A" + n, "pair", {}, 100, "trace" + n);
      add_leg("B" + n, "pair", c.intent.b, 110 + 0.1 * i, "trace" + n);
      ratios.push_back(std::log((110 + 0.1 * i) / 100));
      c.pairs.push_back({"C1", "A" + n, "B" + n, i, ratios.back()});
    }
    c.decided = Decided{.comparison = "C1", .verdict = "faster"};
    c.quality = QualityDone{.comparison = "C1"};
    s.comparisons.push_back(c);
  }
  void add_leg(const std::string& id, const std::string& purpose, const Candidate& candidate, double value, const std::string& trace) {
    LegRecord leg;
    leg.plan = {.id = id, .purpose = purpose, .candidate = candidate};
    LegResult r;
    r.value = value;
    r.load.output_tok_s = value;
    r.trace_sha256 = trace;
    r.effective["-np"] = candidate.changes.empty() ? "4" : "8";
    leg.done = LegDone{.id = id, .result = r};
    s.leg_index[id] = s.legs.size();
    s.legs.push_back(leg);
  }
  LegRecord& leg(const std::string& id) { return s.legs[s.leg_index.at(id)]; }
  CriticVerdict review() { return critic.review(pack, s, s.comparisons[0]); }
};

TEST(Critic, SignsWhatFollowsFromTheRawLegs) {
  Scene scene;
  CriticVerdict v = scene.review();
  EXPECT_TRUE(v.sign) << v.code << ": " << v.why;
  EXPECT_NEAR(v.recomputed_log, std::log(1.101), 1e-3);
}

TEST(Critic, VetoesAVoidLeg) {
  Scene scene;
  scene.leg("B1").void_reason = "foreign load";
  EXPECT_EQ(scene.review().code, "void_leg");
}

TEST(Critic, VetoesUnequalTraces) {
  Scene scene;
  scene.leg("B2").done->result->trace_sha256 = "another";
  EXPECT_EQ(scene.review().code, "unequal_traces");
}

TEST(Critic, VetoesAnIgnoredFlag) {
  Scene scene;
  scene.leg("B0").done->result->effective["-np"] = "4";
  EXPECT_EQ(scene.review().code, "ignored_flag");
}

TEST(Critic, VetoesMissingAndFailedQuality) {
  Scene scene;
  scene.s.comparisons[0].quality->report.failures = {"ppl_ratio 1.26 above 1.01"};
  EXPECT_EQ(scene.review().code, "quality");
  scene.s.comparisons[0].quality.reset();
  EXPECT_EQ(scene.review().code, "missing_quality");
}

TEST(Critic, VetoesMoreThanTheRooflineAllows) {
  Scene scene;
  ProfileNote note{.leg = "S0", .of = "stock"};
  note.roofline.gain_ceiling = 1.05;
  scene.s.profiles.push_back(note);
  EXPECT_EQ(scene.review().code, "beyond_roofline");
  scene.s.workload.objective.maximize = "ttft";   // the ceiling says nothing of latencies
  EXPECT_NE(scene.review().code, "beyond_roofline");
}

TEST(Critic, VetoesALatencyLimitThatTheLegsDoNotProve) {
  Scene scene;
  scene.s.workload.objective.limits = {{"ttft", 95, 500}};
  for (LegRecord& leg : scene.s.legs) leg.done->result->load.ttft_ms = {.p95 = 400, .count = 20};
  EXPECT_TRUE(scene.review().sign);
  for (int i = 0; i < 3; ++i) scene.leg("B" + std::to_string(i)).done->result->load.ttft_ms.p95 = 600;
  EXPECT_EQ(scene.review().code, "limit_unproven");
  // What claims to rescue a missed limit must come under it.
  for (int i = 0; i < 3; ++i) scene.leg("A" + std::to_string(i)).done->result->load.ttft_ms.p95 = 900;
  scene.s.comparisons[0].decided->guards = {"ttft p95 <= 500 ms: proven"};
  EXPECT_EQ(scene.review().code, "limit_unproven");
}

TEST(Critic, PairsThatOnlyALatencyGuardAskedForDoNotUndoTheVerdict) {
  Scene scene;
  for (int i = 3; i < 7; ++i) {
    std::string n = std::to_string(i);
    scene.add_leg("A" + n, "pair", {}, 100, "trace" + n);
    const double value = i % 2 ? 93 : 107;
    scene.add_leg("B" + n, "pair", scene.s.comparisons[0].intent.b, value, "trace" + n);
    scene.s.comparisons[0].pairs.push_back({"C1", "A" + n, "B" + n, i, std::log(value / 100)});
  }
  const Comparison& c = scene.s.comparisons[0];
  EXPECT_NE(look(pool_before(scene.s, "C1"), c.log_ratios(), test_plan(scene.s)).verdict, Verdict::Faster);
  EXPECT_TRUE(scene.review().sign) << scene.review().why;
}

TEST(Critic, VetoesFiguresThatDoNotFollow) {
  Scene value;
  value.leg("B0").done->result->value = 150;
  EXPECT_EQ(value.review().code, "value_mismatch");
  Scene pair;
  pair.s.comparisons[0].pairs[1].log_ratio = 0.3;
  EXPECT_EQ(pair.review().code, "pair_mismatch");
  Scene verdict;
  for (int i = 0; i < 3; i++) {
    LegRecord& leg = verdict.leg("B" + std::to_string(i));
    leg.done->result->value = leg.done->result->load.output_tok_s = 100;
    verdict.s.comparisons[0].pairs[static_cast<size_t>(i)].log_ratio = 0;
  }
  EXPECT_EQ(verdict.review().code, "not_reproduced");
  Scene candidate;
  candidate.leg("B1").plan.candidate = {};
  EXPECT_EQ(candidate.review().code, "wrong_candidate");
}

TEST(Watchdog, StopsWhenTheHostNeverGetsQuietOrEverythingCrashes) {
  BuiltInWatchdog dog;
  SessionState quiet;
  EXPECT_FALSE(dog.watch(quiet));
  quiet.voids_in_a_row = 8;
  ASSERT_TRUE(dog.watch(quiet));
  EXPECT_EQ(dog.watch(quiet)->source, "host_never_quiet");
  SessionState crashing;
  for (int i = 0; i < 6; i++)
    crashing.proposals.push_back({.status = ProposalStatus::Reverted, .reverted = Reverted{.code = "failed"}});
  ASSERT_TRUE(dog.watch(crashing));
  EXPECT_EQ(dog.watch(crashing)->source, "candidates_keep_failing");
}

}  // namespace
}  // namespace hyperloom

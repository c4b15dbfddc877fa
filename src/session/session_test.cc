#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "session/coordinator.h"
#include "session/scripted_world_for_test.h"

namespace hyperloom {
namespace {

bool is_decision(const std::string& type) {
  return type == "comparison.decided" || type == "verdict" || type == "kept" || type == "exam.judged" || type == "reverted" || type == "closed" ||
         type == "recipe.written" || type == "phase.entered" || type == "gate.refused";
}

std::string decisions(const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& e : entries)
    if (is_decision(e.type)) out += e.type + " " + e.id + " " + e.body->dump() + "\n";
  return out;
}

struct Bench {
  TempDir dir{"session-test"};
  VirtualClock clock;
  ScriptedWorld world{clock};
  Pack pack = scripted_pack();
  Roles roles = built_in_roles();
  Rules rules{pack, roles};
  fs::path journal_file() const { return dir.path() / "journal.hlj"; }

  SessionState run(const Workload& workload = scripted_workload()) {
    auto journal = Journal::open(journal_file(), clock);
    Coordinator c(*journal, world, rules, {});
    c.open("s1", workload);
    return c.run();
  }
  SessionState resume() {
    auto journal = Journal::open(journal_file(), clock);
    Coordinator c(*journal, world, rules, {});
    c.resume();
    return c.run();
  }
};

void typical(ScriptedWorld& w) {
  w.effect = {{"weights Q8_0", 0.40}, {"weights Q4_0", 0.70}, {"-np 8", 0.12}, {"-fa off", -0.08}, {"--poll 0", 0.0}};
  w.breaks_quality = {"weights Q4_0"};
}

TEST(Session, KeepsWhatIsProvenAndRefusesTheFastWrongOne) {
  Bench b;
  typical(b.world);
  SessionState s = b.run();
  ASSERT_TRUE(s.closed);
  EXPECT_EQ(s.closed->result, "improved");
  ASSERT_TRUE(s.incumbent.find("weights"));
  EXPECT_EQ(s.incumbent.find("weights")->value, "Q8_0");
  EXPECT_TRUE(s.incumbent.find("-np"));
  EXPECT_FALSE(s.incumbent.find("-fa"));
  bool refused = false;
  for (const Proposal& p : s.proposals)
    refused |= p.intent.change.text() == "weights Q4_0" && p.reverted && p.reverted->code == "quality";
  EXPECT_TRUE(refused);
  EXPECT_GE(s.final_pairs.size(), 5u);
  EXPECT_GE(s.first_gain_at_s, 0);
  EXPECT_LT(s.first_gain_at_s, s.workload.time_s / 4);   // L10
  EXPECT_LE(s.spent_s, s.workload.time_s);
  EXPECT_EQ(s.ablation.size(), 2u);
}

const Proposal* proposal_of(const SessionState& s, const std::string& change) {
  for (const Proposal& p : s.proposals)
    if (p.intent.change.text() == change) return &p;
  return nullptr;
}

TEST(Session, AWrongAnswererIsRevertedByTheExamWithItsCheck) {
  Bench b;
  typical(b.world);
  b.world.fails_exam = {"weights Q8_0"};
  SessionState s = b.run();
  ASSERT_TRUE(s.exam && s.exam->on);
  EXPECT_FALSE(s.incumbent.find("weights"));
  EXPECT_TRUE(s.incumbent.find("-np"));
  const Proposal* wrong = proposal_of(s, "weights Q8_0");
  ASSERT_TRUE(wrong && wrong->reverted);
  EXPECT_EQ(wrong->reverted->code, "quality");
  EXPECT_NE(wrong->reverted->why.find("exam, right answers"), std::string::npos);
}

TEST(Session, EachKeepSatTheExamAndStockTwice) {
  Bench b;
  typical(b.world);
  SessionState s = b.run();
  int stock = 0, candidates = 0;
  for (const LegRecord& leg : s.legs) (leg.plan.group == "exam:stock" ? stock : candidates) += leg.plan.purpose == "exam" && leg.sat();
  EXPECT_EQ(stock, 2);
  EXPECT_EQ(candidates, static_cast<int>(s.kept_items.size()));
  for (const Comparison& c : s.comparisons)
    EXPECT_TRUE(!c.critic || !c.critic->sign || (c.exam && c.exam->report.held()));
  EXPECT_LE(s.spent_s, s.workload.time_s);
}

TEST(Session, AShortBudgetGoesWithoutTheExamAndSaysSo) {
  Bench b;
  typical(b.world);
  SessionState s = b.run(scripted_workload(350));
  ASSERT_TRUE(s.exam);
  EXPECT_FALSE(s.exam->on);
  EXPECT_TRUE(std::any_of(s.notices.begin(), s.notices.end(), [](const std::string& n) { return n.find("no exam") != std::string::npos && n.find("15 % of a budget") != std::string::npos; }));
  EXPECT_FALSE(s.kept_items.empty());
}

TEST(Session, AnExamThatStockCannotSitIsNone) {
  Bench b;
  typical(b.world);
  b.world.stock_is_mute = true;
  SessionState s = b.run();
  ASSERT_TRUE(s.exam);
  EXPECT_FALSE(s.exam->on);
  EXPECT_EQ(s.closed->result, "improved");
}

TEST(Session, ADeathInTheExamIsAFailureAndOutOfTimeIsNoEvidence) {
  Bench b;
  typical(b.world);
  b.world.dies_in_exam = {"weights Q8_0"};
  b.world.late_in_exam = {"-np 8"};
  SessionState s = b.run();
  EXPECT_TRUE(s.kept_items.empty());
  EXPECT_NE(proposal_of(s, "weights Q8_0")->reverted->why.find("failed in it"), std::string::npos);
  EXPECT_EQ(proposal_of(s, "-np 8")->reverted->code, "no_evidence");
}

TEST(Session, NothingToGainEndsWithoutAKeep) {
  Bench b;
  SessionState s = b.run();
  EXPECT_EQ(s.closed->result, "no_gain");
  EXPECT_EQ(s.incumbent.id(), "stock");
  EXPECT_TRUE(s.kept_items.empty());
}

TEST(Session, ClimbsTheLadderAndTakesTheFastestThatAnswers) {
  Bench b;
  typical(b.world);
  b.world.build_dies["native"] = "illegal_instruction";
  b.world.build_effect = {{"plain", 0.2}, {"slow", 0.0}};
  SessionState s = b.run();
  ASSERT_TRUE(s.enabled);
  EXPECT_TRUE(s.enabled->climbed);
  EXPECT_EQ(s.enabled->build, "plain");
  EXPECT_EQ(s.stages.front().kind, "enablement");
}

TEST(Session, NothingAnswers) {
  Bench b;
  for (const char* build : {"native", "plain", "slow"}) b.world.build_dies[build] = "illegal_instruction";
  SessionState s = b.run();
  EXPECT_EQ(s.closed->result, "not_enabled");
}

TEST(Session, KernelClaimsAreMeasuredLikeAnythingElse) {
  Bench b;
  typical(b.world);
  b.world.build_effect = {{"fast", 0.15}};
  Intent claim{.role = "backend", .kind = "propose", .phase = "kernel", .change = {"build", "build", "fast"}, .source = "forge"};
  b.world.kernel_claims = {claim};
  SessionState s = b.run(scripted_workload(3000));
  ASSERT_TRUE(s.incumbent.find("build"));
  EXPECT_EQ(s.stages.back().kind, "kernel");
}

TEST(Session, ABuildThatRanOutOfTimeIsNoEvidenceAgainstIt) {
  Bench b;
  typical(b.world);
  b.world.slow_builds = {"fast"};
  b.world.kernel_claims = {{.role = "backend", .kind = "propose", .phase = "kernel", .change = {"build", "build", "fast"}, .source = "forge"}};
  SessionState s = b.run(scripted_workload(3000));
  EXPECT_FALSE(s.incumbent.find("build"));
  const auto at = std::find_if(s.proposals.begin(), s.proposals.end(), [](const Proposal& p) { return p.intent.change.kind == "build"; });
  ASSERT_TRUE(at != s.proposals.end() && at->reverted);
  EXPECT_EQ(at->reverted->code, "no_evidence");
}

TEST(Session, BuildsGetTheirTurnAndFlagsWhatIsLeftOver) {
  Bench b;
  typical(b.world);
  b.world.kernel_claims = {{.role = "backend", .kind = "propose", .phase = "kernel", .change = {"build", "build", "fast"}, .source = "forge"}};
  SessionState s = b.run(scripted_workload(800));
  ASSERT_TRUE(s.closed);
  bool built = false, came_back = false;
  for (const BuildEvent& build : s.builds) built |= build.recipe == "fast";
  for (const PhaseEntered& p : s.phases) came_back |= p.reason == "builds_done" && p.phase == "framework";
  EXPECT_TRUE(built);
  EXPECT_TRUE(came_back);
  EXPECT_LE(s.spent_s, s.workload.time_s);
}

TEST(Session, AStackThatCrashesInItsOwnClaimIsNoWinner) {
  Bench b;
  typical(b.world);
  b.world.crashes_in_claim = {"-np 8"};
  SessionState s = b.run();
  EXPECT_TRUE(s.incumbent.find("-np"));
  EXPECT_EQ(s.closed->result, "no_gain");
  EXPECT_LT(s.final_pairs.size(), 5u);
}

TEST(Session, ALimitThatNothingMeetsIsSaidSo) {
  Bench b;
  typical(b.world);
  b.world.latency_ms = 900;
  Workload workload = scripted_workload();
  workload.objective.limits = {{"ttft", 95, 500}};
  SessionState s = b.run(workload);
  EXPECT_EQ(s.closed->result, "limits_unmet");
  EXPECT_TRUE(s.kept_items.empty());
}

TEST(Session, VoidLegsAreRepeatedAndAHostThatNeverGetsQuietIsSaidSo) {
  Bench b;
  typical(b.world);
  b.world.pollute_every = 5;
  SessionState s = b.run(scripted_workload(2500));
  EXPECT_EQ(s.closed->result, "improved");
  EXPECT_GT(s.voids, 5);

  Bench never;
  never.world.pollute_every = 1;
  SessionState n = never.run();
  ASSERT_TRUE(n.closed);
  EXPECT_NE(n.closed->result, "improved");
}

TEST(Session, TooSmallABudgetSaysWhatItNeeds) {
  Bench b;
  SessionState s = b.run(scripted_workload(60));
  EXPECT_EQ(s.closed->stop_reason, "budget_too_small");
  EXPECT_NE(s.phases.back().evidence.find("needs about"), std::string::npos);
}

TEST(Session, ASlowFirstBootIsNoVerdictOnTheBudget) {
  Bench b;
  typical(b.world);
  b.world.enable_cost = 70;
  SessionState s = b.run();
  EXPECT_EQ(s.closed->result, "improved");
}

TEST(Session, ReplaysARecipeFirst) {
  Bench b;
  typical(b.world);
  Intent item{.role = "planner", .kind = "propose", .phase = "prelude", .change = {"flag", "-np", "8"}, .source = "recipe"};
  b.world.recipe_items = {item};
  SessionState s = b.run();
  ASSERT_GE(s.stages.size(), 2u);
  EXPECT_EQ(s.stages[1].kind, "warm_replay");
  EXPECT_EQ(s.stages[1].change.text(), "-np 8");
}

TEST(Session, StopThenResumeThenClose) {
  Bench b;
  typical(b.world);
  auto journal = Journal::open(b.journal_file(), b.clock);
  Coordinator c(*journal, b.world, b.rules, {{}, [&](const SessionState& s, const std::string&) {
                                               if (s.comparisons.size() == 1) b.world.stop = "user_stop";
                                             }});
  c.open("s1", scripted_workload());
  SessionState stopped = c.run();
  EXPECT_FALSE(stopped.closed);
  EXPECT_EQ(stopped.stop_request, "user_stop");
  journal.reset();
  b.world.stop = "";
  SessionState s = b.resume();
  EXPECT_EQ(s.closed->result, "improved");
}

// decisions after a kill at every entry equal those of the undisturbed run, byte for byte
TEST(Session, AKillAtAnyEntryChangesNoDecision) {
  // Few knobs keep the journal short: the test's cost grows with its square.
  auto prepare = [](Bench& b) {
    typical(b.world);
    b.world.noise_sd = 0.01;
    std::erase_if(b.pack.knobs, [](const Knob& k) { return k.name == "-fa" || k.name == "-ub"; });
  };
  Bench whole;
  prepare(whole);
  whole.run(scripted_workload(1000));   // long enough for exams
  std::string expected = decisions(read_journal(whole.journal_file()).entries);
  std::string bytes = read_file(whole.journal_file());
  std::vector<size_t> ends;
  for (size_t i = 0; i < bytes.size(); i++)
    if (bytes[i] == '\n') ends.push_back(i + 1);
  ASSERT_GT(ends.size(), 50u);
  for (size_t k = 0; k + 1 < ends.size(); k++) {
    Bench b;
    prepare(b);
    // Half of the kills tear the next entry as well.
    size_t torn = k % 2 ? (ends[k + 1] - ends[k]) / 2 : 0;
    write_file(b.journal_file(), bytes.substr(0, ends[k] + torn));
    b.resume();
    ASSERT_EQ(decisions(read_journal(b.journal_file()).entries), expected) << "killed after entry " << k + 1;
  }
}

}  // namespace
}  // namespace hyperloom

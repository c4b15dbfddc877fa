#include "policy/gate.h"

#include <gtest/gtest.h>

namespace hyperloom {
namespace {

struct Scene {
  SessionState s;
  Pack pack;
  Scene() {
    s.phase = "framework";
    s.probe = ProbeEvent{};
    s.probe->machine.cores = 2;
    s.enabled = Enabled{.build = "native"};
    s.builds.push_back({.recipe = "native", .ok = true, .help_flags = {"-np", "-ub"}});
    Knob np;
    np.name = np.help_name = "-np";
    np.kind = "flag";
    np.type = "int";
    np.values = {"4", "8"};
    np.forbid = "knob.-np > 8";
    pack.knobs.push_back(np);
    BuildRecipe lto;
    lto.id = "lto";
    lto.role = "tune";
    pack.builds.push_back(lto);
  }
  Intent propose(Change change) { return {.id = "P1", .role = "planner", .kind = "propose", .phase = s.phase, .change = std::move(change)}; }
  std::string rule(const Intent& intent) {
    auto refused = gate(pack, s, intent);
    if (!refused) return "";
    EXPECT_FALSE(refused->mend.empty());
    EXPECT_EQ(refused->intent, intent.id);
    return refused->rule;
  }
};

TEST(Gate, LetsALegalChangePass) {
  Scene scene;
  EXPECT_EQ(scene.rule(scene.propose({"flag", "-np", "8"})), "");
}

TEST(Gate, RefusalsNameTheirRule) {
  Scene scene;
  EXPECT_EQ(scene.rule(scene.propose({"flag", "--unheard-of", "1"})), "known_knob");
  EXPECT_EQ(scene.rule(scene.propose({"flag", "-np", "64"})), "legal_value");
  EXPECT_EQ(scene.rule(scene.propose({"build", "build", "no-such"})), "known_build");
  EXPECT_EQ(scene.rule({.id = "X", .kind = "format_disk"}), "known_intent");
  scene.s.builds.push_back({.recipe = "lto", .error = "no linker plugin"});
  EXPECT_EQ(scene.rule(scene.propose({"build", "build", "lto"})), "build_failed");
  scene.s.workload.touch["flags"] = {.allowed = false};
  EXPECT_EQ(scene.rule(scene.propose({"flag", "-np", "8"})), "touch");
  scene.s.phase = "close";
  EXPECT_EQ(scene.rule(scene.propose({"flag", "-np", "8"})), "phase");
}

TEST(Gate, ComparisonsAreDeclaredAndAgainstTheIncumbentOfToday) {
  Scene scene;
  Intent compare{.id = "C1", .kind = "compare", .change = {"flag", "-np", "8"}};
  compare.b = Candidate{}.with(compare.change);
  EXPECT_EQ(scene.rule(compare), "");
  compare.a = Candidate{}.with({"flag", "-np", "4"});
  EXPECT_EQ(scene.rule(compare), "against_incumbent");
  compare.a = {};
  Comparison refused;
  refused.intent = compare;
  refused.quality = QualityDone{.comparison = "C1"};
  refused.quality->report.failures = {"kl"};
  scene.s.comparisons.push_back(refused);
  EXPECT_EQ(scene.rule(compare), "quality_is_final");   // case j05: no second door
  scene.s.workload.comparisons = 1;
  EXPECT_EQ(scene.rule(compare), "declared_comparisons");
}

}  // namespace
}  // namespace hyperloom

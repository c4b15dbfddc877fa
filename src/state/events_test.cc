#include "state/events.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace hyperloom {
namespace {

// Bytes out, value in, bytes out again: equal bytes mean that no field was lost either way.
template <class T>
void expect_round_trip(const T& value) {
  const Json json = value;
  EXPECT_EQ(json, Json(Json::parse(json.dump()).get<T>())) << json.dump(2);
}

void expect_no_nulls(const Json& json) {
  EXPECT_FALSE(json.is_null());
  if (json.is_structured()) {
    for (const Json& item : json) expect_no_nulls(item);
  }
}

Candidate with_slots() { return Candidate{{Change{"flag", "-np", "8"}}}; }

Look some_look() {
  Look look;
  look.n = 4;
  look.clip_limit = 0.1;
  look.s = 0.02;
  look.nu = 9;
  look.mean = 0.3;
  look.raw = 0.31;
  look.p = 0.001;
  look.bound = 0.0025;
  look.chance = 0.9;
  look.upper = 0.4;
  look.s_own_over_pool = 1.5;
  look.verdict = Verdict::Faster;
  return look;
}

TEST(Events, EveryFieldOfModelAndBuildSurvives) {
  ModelFacts model;
  model.name = "Smol";
  model.architecture = "llama";
  model.weights_type = "Q4_1";
  model.layers = 30;
  model.heads = 9;
  model.kv_heads = 3;
  model.embedding = 576;
  model.context = 8192;
  model.vocabulary = 49152;
  model.head_dim = 64;
  model.feed_forward = 1536;
  model.parameters = 134515008;
  model.bytes = 98000000;
  model.sha256 = "ab";
  model.step_bytes = 97000000;
  model.kv_bytes_per_token = 23040;
  const Json json = model;
  EXPECT_EQ(json.size(), 16u);
  const auto back = json.get<ModelFacts>();
  EXPECT_EQ(back.vocabulary, 49152);
  EXPECT_EQ(back.kv_bytes_per_token, 23040u);
  expect_round_trip(model);

  BuildEvent build{"native", "0123", "/b", "", true, true, 12.5, {"-np", "-fa"}};
  EXPECT_EQ(Json(build).size(), 7u);
  expect_round_trip(build);
  EXPECT_EQ(Json(build).get<BuildEvent>().help_flags, build.help_flags);
}

TEST(Events, FailuresAndVoids) {
  const Failure failure{"illegal_instruction", "sigill", "Illegal instruction", "rebuild",
                        "build for this CPU"};
  EXPECT_EQ(Json(failure).at("class"), "illegal_instruction");
  expect_round_trip(failure);
  LegDone done;
  done.id = "L3";
  done.failure = failure;
  done.records_blob = "ff";
  done.cost_s = 3;
  expect_round_trip(done);
  EXPECT_FALSE(Json(done).contains("result"));
  EXPECT_EQ(Json(done).get<LegDone>().failure->rung, "rebuild");
  Neighbours seen;
  seen.foreign_cpu = 1.2;
  expect_round_trip(LegVoid{"L4", "a neighbour used 1.2 cores", 20, seen});
  EXPECT_FALSE(Json(LegVoid{"L4", "stopped", 0}).contains("neighbours"));
}

TEST(Events, ALegThatNeitherWorkedNorFailedIsRefused) {
  EXPECT_THROW(Json::parse(R"({"id": "L1"})").get<LegDone>(), Error);
}

TEST(Events, LegPlanLeavesOutWhatIsAbsent) {
  LegPlan plan;
  plan.id = "L1";
  plan.purpose = "stock";
  const Json json = plan;
  for (const char* key : {"pair", "group", "arm", "clients", "prompt_tokens", "output_tokens"}) {
    EXPECT_FALSE(json.contains(key)) << key;
  }
  EXPECT_EQ(json.get<LegPlan>().pair, -1);
  plan = LegPlan{"L2",     "why",        "pair", "C1", "b", 0,   2, with_slots(),
                 "native", ~uint64_t{0}, 40,     8,    4,   128, 64};
  EXPECT_EQ(Json(plan).size(), 15u);
  EXPECT_EQ(Json(plan).get<LegPlan>().seed, ~uint64_t{0});
  EXPECT_EQ(Json(plan).get<LegPlan>().pair, 0);
  expect_round_trip(plan);
}

TEST(Events, DecisionsKeepTheirEvidence) {
  const Json json = some_look();
  EXPECT_EQ(json.size(), 12u);
  EXPECT_EQ(json.at("verdict"), "faster");
  EXPECT_EQ(json.get<Look>().verdict, Verdict::Faster);
  EXPECT_DOUBLE_EQ(json.get<Look>().s_own_over_pool, 1.5);
  expect_round_trip(Decided{
      "C1", "faster", "p below the bound", some_look(), {"ttft p95: proven within margin"}});
  expect_round_trip(PairDone{"C1", "L1", "L2", 3, -0.25});
  expect_round_trip(CriticVerdict{"C1", true, "signed", "recomputed", 0.3});
}

TEST(Events, ALookThatHasNoUpperEndYetSaysNothingInsteadOfNull) {
  Look look = some_look();
  look.upper = std::numeric_limits<double>::infinity();
  const Json json = look;
  EXPECT_FALSE(json.contains("upper"));
  expect_no_nulls(json);
  EXPECT_EQ(json.get<Look>().n, 4);
}

TEST(Events, AnUnknownVerdictIsNamed) {
  Json json = some_look();
  json["verdict"] = "splendid";
  try {
    json.get<Look>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("splendid"), std::string::npos);
    EXPECT_FALSE(error.mend().empty());
  }
}

TEST(Events, OnlyCompareHasSides) {
  Intent propose;
  propose.id = "P1";
  propose.kind = "propose";
  propose.role = "planner";
  propose.phase = "framework";
  propose.change = {"flag", "-np", "8"};
  propose.source = "expert";
  propose.predicted_log = 0.2;
  propose.why = "more slots";
  EXPECT_TRUE(Json(propose).contains("a")) << "the incumbent that it was made on";
  EXPECT_EQ(Json(propose).get<Intent>().change, propose.change);
  expect_round_trip(propose);
  Intent compare;
  compare.id = "C1";
  compare.kind = "compare";
  compare.proposal = "P1";
  compare.b = with_slots();
  EXPECT_TRUE(Json(compare).contains("a"));
  EXPECT_FALSE(Json(compare).contains("change"));
  EXPECT_EQ(Json(compare).get<Intent>().b.changes, compare.b.changes);
  expect_round_trip(compare);
}

TEST(Events, TheRestRoundTrips) {
  expect_round_trip(Refused{"P2", "L7", "-c 16", "ask for a longer context"});
  expect_round_trip(Kept{"C1", "P1", "S2", with_slots()});
  expect_round_trip(Reverted{"C2", "P2", "quality", "kl 0.1 above 0.02"});
  expect_round_trip(Reverted{"", "P3", "screened_out", ""});
  expect_round_trip(PhaseEntered{"kernel", "no gain left in flags", 2});
  expect_round_trip(RecipeWritten{"k", "proven", true, 3});
  expect_round_trip(Closed{"improved", "budget", true});
  expect_round_trip(Stopped{"user_stop"});
  const Enabled enabled{"portable", with_slots(), true, {"native: SIGILL", "portable: answered"},
                        1.4,        48,           8};
  EXPECT_EQ(Json(enabled).size(), 7u);
  expect_round_trip(enabled);
  expect_round_trip(MadeEvent{with_slots(), true, "", "/m.gguf", 10, 2.5});
  EXPECT_EQ(Json(Closed{"improved", "budget", true}).get<Closed>().stop_reason, "budget");
}

TEST(Events, UnknownKeysAreIgnoredAndMissingOnesNamed) {
  EXPECT_EQ(Json::parse(R"({"reason": "fault", "later": {"x": null}})").get<Stopped>().reason,
            "fault");
  try {
    Json::parse(R"({"id": "P1"})").get<Intent>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_STREQ(error.what(), "journal entry body intent, `kind`: the key is missing");
  }
  try {
    Json::parse(R"({"comparison": "C1", "log_ratio": "big"})").get<PairDone>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("`log_ratio`"), std::string::npos);
  }
  EXPECT_THROW(Json::parse("[1]").get<Closed>(), Error);
}

// These carry values of earlier rooms, so they also hold that those rooms' JSON survives being
// nested.
TEST(Events, NestedFactsRoundTrip) {
  ProbeEvent probe;
  probe.machine.cpu_name = "A CPU";
  probe.machine.cores = 2;
  probe.model.name = "Smol";
  probe.roofs = {20.5, 90};
  probe.pack = "llama.cpp";
  probe.engine_version = "b1";
  probe.source_commit = "c0ffee";
  probe.cost_s = 1.5;
  expect_round_trip(probe);
  EXPECT_DOUBLE_EQ(Json(probe).get<ProbeEvent>().roofs.peak_gflop_s, 90);

  LegDone done;
  done.id = "L1";
  done.result.emplace();
  done.result->value = 123.5;
  done.kernels.emplace();
  done.kernels->samples = 7;
  expect_round_trip(done);
  EXPECT_DOUBLE_EQ(Json(done).get<LegDone>().result->value, 123.5);
  EXPECT_EQ(Json(done).get<LegDone>().kernels->samples, 7);
}

TEST(Events, AnExamLegHoldsItsSheetAndNothingElse) {
  LegDone done{.id = "L1"};
  done.exam = ExamSheet{.asked = 2, .ignored = {"seed"}, .seconds = 3};
  done.exam->answers = {{.kind = "chat", .right = true, .text = "red", .alone = "blue"}};
  expect_round_trip(done);
  EXPECT_EQ(Json(done).get<LegDone>().exam->answers.front().alone, "blue");
  done.result.emplace();
  EXPECT_THROW(Json(done).get<LegDone>(), Error);
  expect_round_trip(ExamPlan{true, ""});
  ExamDone judged{"C1", {}};
  judged.report.failures = {"exam, right answers: wrong"};
  expect_round_trip(judged);

  QualityDone quality{"C1", {}};
  quality.report.failures = {"kl 0.1"};
  expect_round_trip(quality);
  ProfileNote note;
  note.leg = "L9";
  note.of = "stock";
  note.roofline.bound = "memory";
  expect_round_trip(note);
}

}  // namespace
}  // namespace hyperloom

#include "measure/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace hyperloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LoadSummary fixed_length() {
  LoadSummary s;
  s.completed = 64;
  s.mean_output_tokens = 64;
  s.finish = {{"length", 64}};
  return s;
}

LoadSummary free_length() {
  LoadSummary s = fixed_length();
  s.finish = {{"stop", 60}, {"length", 4}};
  return s;
}

KlResult good_kl() {
  KlResult kl;
  kl.ok = true;
  kl.mean_kl = 0.0044;
  kl.mean_kl_se = 0.0001;
  kl.ppl_ratio = 1.004;
  kl.ppl_ratio_se = 0.001;
  kl.top1 = 0.968;
  kl.top1_se = 0.003;
  kl.tokens = 8192;
  return kl;
}

struct Scene {
  QualityReport report;
  QualityLimits limits;
  LoadSummary stock = fixed_length(), candidate = fixed_length();
};

struct Case {
  const char* name;
  std::function<void(Scene&)> change;
  const char* failure;   // "" = held
};

// Each case starts from a numeric change that holds.
const Case kCases[] = {
    {"numeric change within all limits", [](Scene&) {}, ""},
    {"KL above", [](Scene& s) { s.report.kl.mean_kl = 0.257; }, "quality.kl_mean_max: 0.257 ± 0.0001, limit 0.02"},
    {"perplexity above", [](Scene& s) { s.report.kl.ppl_ratio = 1.26; }, "quality.ppl_ratio_max: 1.26"},
    {"top token below", [](Scene& s) { s.report.kl.top1 = 0.773; }, "quality.top1_min: 0.773"},
    {"exactly at the limit", [](Scene& s) { s.report.kl.mean_kl = 0.02; }, ""},
    {"not a number", [](Scene& s) { s.report.kl.mean_kl = std::nan(""); }, "quality.kl_mean_max: nan"},
    {"tool failed", [](Scene& s) { s.report.kl = KlResult{.error = "ended with SIGSEGV"}; }, "not proven: ended with SIGSEGV"},
    {"tool gave nothing (j05)", [](Scene& s) { s.report.kl = {}; }, "not proven: the tool gave no result"},
    {"tool tried, not done", [](Scene& s) { s.report.kl = KlResult{.error = "took longer"}; s.report.kl_done = false; }, "not proven: took longer"},
    {"nothing compared under load (j03)", [](Scene& s) { s.report.agreement = {}; }, "answers not proven: no answer under the measured load"},
    {"numeric change may disagree", [](Scene& s) { s.report.agreement.share = 0.3; }, ""},
    {"numeric change collapses", [](Scene& s) { s.report.agreement.share = 0.01; }, "broken under load"},
    {"collapse where stock itself is unsteady", [](Scene& s) { s.report.agreement.share = 0.01; s.report.stock_agreement.share = 0.4; }, ""},
    {"exact change agrees as stock does", [](Scene& s) { s.report.kl = {}; s.report.kl_done = false; s.report.agreement.share = 0.85; }, ""},
    {"exact change changed the answers", [](Scene& s) { s.report.kl = {}; s.report.kl_done = false; s.report.agreement.share = 0.75; }, "limit 80.0 %: a change that claims exact numerics"},
    {"exact change, stock's floor unknown", [](Scene& s) { s.report.kl = {}; s.report.kl_done = false; s.report.agreement.share = 0.3; s.report.stock_agreement = {}; }, ""},
    {"exact change, floor unknown, nothing agrees", [](Scene& s) { s.report.kl = {}; s.report.kl_done = false; s.report.agreement.share = 0.03; s.report.stock_agreement = {}; }, "measure stock against itself"},
    {"fixed length, work within 2 %", [](Scene& s) { s.candidate.mean_output_tokens = 63; }, ""},
    {"fixed length, less work", [](Scene& s) { s.candidate.mean_output_tokens = 62; }, "work differs: output tokens 3.1 % apart"},
    {"fixed length, more work", [](Scene& s) { s.candidate.mean_output_tokens = 66; }, "work differs"},
    {"samples differ, the same requests do not", [](Scene& s) { s.candidate.mean_output_tokens = 66; s.report.agreement.tokens_apart = 0; }, ""},
    {"the same requests differ", [](Scene& s) { s.report.agreement.tokens_apart = 0.05; }, "work differs: output tokens 5.0 % apart"},
    {"free length may vary", [](Scene& s) { s.stock = s.candidate = free_length(); s.candidate.mean_output_tokens = 70; }, ""},
    {"free length, far more", [](Scene& s) { s.stock = s.candidate = free_length(); s.candidate.mean_output_tokens = 120; }, "limit 25 %"},
    {"never stops", [](Scene& s) { s.stock = free_length(); }, "finish reason length: 100 % of 64 answers, stock 6 %"},
    {"a few more end by length", [](Scene& s) { s.stock = s.candidate = free_length(); s.candidate.finish = {{"stop", 56}, {"length", 8}}; }, ""},
    {"repeats itself", [](Scene& s) { s.candidate.repetition = 0.4; }, "repetition: 40 % of 64 answers, stock 0 %"},
    {"repeats itself as stock does", [](Scene& s) { s.stock.repetition = s.candidate.repetition = 0.4; }, ""},
    {"one of ten repeats itself", [](Scene& s) { s.stock.finish = s.candidate.finish = {{"length", 10}}; s.candidate.repetition = 0.1; }, ""},
    {"empty answers", [](Scene& s) { s.candidate.empty = 0.3; }, "empty answers: 30 %"},
    {"no answers at all", [](Scene& s) { s.candidate.finish.clear(); }, "work not proven: 0 finished answers"},
};

TEST(Judge, NamesLimitValueAndMend) {
  for (const Case& c : kCases) {
    Scene scene;
    scene.report.kl = good_kl();
    scene.report.kl_done = true;
    scene.report.agreement = {0.7, 60};
    scene.report.stock_agreement = {0.9, 60};
    c.change(scene);
    judge(scene.report, scene.limits, scene.stock, scene.candidate);
    if (*c.failure == 0)
      EXPECT_THAT(scene.report.failures, IsEmpty()) << c.name;
    else
      EXPECT_THAT(scene.report.failures, ElementsAre(HasSubstr(c.failure))) << c.name;
  }
}

LoadSummary summary_of(const Json& json) {
  LoadSummary s;
  s.completed = json.at("requests").get<int>();
  s.mean_output_tokens = json.at("out_tokens_mean").get<double>();
  s.finish = json.at("finish").get<std::map<std::string, int>>();
  s.repetition = looks_repetitive(json.at("sample").get<std::string>()) ? 1 : 0;
  return s;
}

// An FP8 cache made the model babble to the limit: more tokens a second, and broken.
TEST(Judge, CaseJ02LongerOutput) {
  const Json json = Json::parse(read_file(fs::path(HYPERLOOM_CASES) / "j02-longer-output.json"));
  QualityReport report;
  report.kl = good_kl();   // even where the divergence alone looked well
  report.kl_done = true;
  report.agreement = {0.2, 10};
  QualityLimits limits;
  limits.waived = "trying";   // and not even a waiver makes other work a gain
  judge(report, limits, summary_of(json["baseline"]), summary_of(json["candidate"]));
  EXPECT_FALSE(report.held());
  EXPECT_THAT(report.failures, ElementsAre(HasSubstr("work differs: output tokens 86.0 % apart (means 1000.0, stock 140.0)"),
                                           HasSubstr("finish reason length: 100 % of 10 answers, stock 0 %")));
}

TEST(Judge, WaiverReportsAndDoesNotEnforce) {
  QualityReport report;
  report.kl = good_kl();
  report.kl.mean_kl = 0.3;
  report.kl_done = true;
  report.agreement = {0.7, 60};
  QualityLimits limits;
  limits.waived = "random weights";
  judge(report, limits, fixed_length(), fixed_length());
  EXPECT_TRUE(report.held());
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("waived (random weights): quality.kl_mean_max: 0.3")));
}

TEST(Judge, JudgingAgainReplacesFailures) {
  QualityReport report;
  report.agreement = {0.9, 60};
  report.failures = {"old"};
  judge(report, {}, fixed_length(), fixed_length());
  EXPECT_TRUE(report.held());
}

TEST(TooClose, WithinTwoStandardErrorsOfAnyLimit) {
  const QualityLimits limits;
  EXPECT_FALSE(too_close(good_kl(), limits));
  KlResult kl = good_kl();
  kl.ppl_ratio = 1.0085;   // 1.5 of its errors below 1.01
  EXPECT_TRUE(too_close(kl, limits));
  kl.ppl_ratio = 1.0115;   // and above
  EXPECT_TRUE(too_close(kl, limits));
  kl.ppl_ratio = 1.02;
  EXPECT_FALSE(too_close(kl, limits));
  kl.top1 = 0.945;
  EXPECT_TRUE(too_close(kl, limits));
  kl.ok = false;
  EXPECT_FALSE(too_close(kl, limits));
}

TEST(QualityReport, SurvivesJson) {
  QualityReport report;
  report.kl = good_kl();
  report.kl_done = true;
  report.agreement = {0.7, 60, 0.01};
  report.failures = {"f"};
  report.notes = {"n"};
  report.cost_s = 12;
  const Json json = report;
  EXPECT_FALSE(json.contains("stock_agreement"));
  EXPECT_EQ(Json(json.get<QualityReport>()), json);
  const auto back = json.get<QualityReport>();
  EXPECT_EQ(back.kl.top1, 0.968);
  EXPECT_EQ(back.agreement.tokens_apart, 0.01);
  EXPECT_EQ(back.stock_agreement.compared, 0);

  QualityReport none;
  EXPECT_FALSE(Json(none).contains("kl"));
  EXPECT_EQ(Json(none).get<QualityReport>().kl.error, "");
  none.kl.error = "died";
  EXPECT_EQ(Json(none).get<QualityReport>().kl.error, "died");
  EXPECT_FALSE(Json(none).get<QualityReport>().kl.ok);
  EXPECT_FALSE(Json(none).at("kl").contains("no_evidence"));
  none.kl.no_evidence = true;
  EXPECT_TRUE(Json(none).get<QualityReport>().kl.no_evidence);
}

}  // namespace
}  // namespace hyperloom

// Whole exam legs against tests/fakes/fake_openai.py, which knows no answer but ends, dies, hangs and fails as told.
#include "measure/exam_leg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "os/child.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

constexpr const char* kPack = R"(schema: 1
name: fake
launch: {argv: [python3]}
stop: {signal: TERM, grace_s: 5}
ready: {health: /health, timeout_s: 60}
)";

class ExamLeg : public testing::Test {
 protected:
  ExamLeg() {
    write_file(dir_.path() / "pack.yaml", kPack);
    pack_ = load_pack(dir_.path().string());
    order_.exam.items = exam_items(1, 200);
  }
  std::variant<ExamSheet, Failure, NoExam> run(std::vector<std::string> flags) {
    order_.launch.argv = {"python3", HYPERLOOM_CASES "/../fakes/fake_openai.py", "--port", "${port}"};
    order_.launch.argv.insert(order_.launch.argv.end(), flags.begin(), flags.end());
    return run_exam_leg(pack_, order_, dir_.path() / "log", hooks_);
  }

  TempDir dir_;
  Pack pack_;
  ExamLegOrder order_;
  LegHooks hooks_;
};

TEST_F(ExamLeg, AWholeSittingAndTheServerIsGone) {
  int port = 0;
  hooks_.on_started = [&](const ProcessHandle&, int p) { port = p; };
  const auto outcome = run({"--stop-after", "3"});
  ASSERT_TRUE(std::holds_alternative<ExamSheet>(outcome));
  const ExamSheet& sheet = std::get<ExamSheet>(outcome);
  EXPECT_TRUE(sheet.whole());
  for (const ExamAnswer& a : sheet.answers) EXPECT_TRUE(a.ended && !a.failed && !a.too_long) << a.kind;
  EXPECT_EQ(sheet.ignored.count("max_tokens"), 0u);
  EXPECT_EQ(sheet.ignored.count("seed"), 0u);
  EXPECT_FALSE(port_listener(port).listening);
}

TEST_F(ExamLeg, EndlessAnswersAreTellableFromStocks) {
  const ExamSheet stock = std::get<ExamSheet>(run({"--stop-after", "3"}));
  const ExamSheet endless = std::get<ExamSheet>(run({}));
  EXPECT_THAT(judge_exam(stock, stock, endless).failures, testing::Contains(HasSubstr("end by themselves")));
}

TEST_F(ExamLeg, AServerThatDiesInItIsTheCandidatesFault) {
  const auto outcome = run({"--die-after", "40"});
  ASSERT_TRUE(std::holds_alternative<Failure>(outcome));
}

TEST_F(ExamLeg, OutOfTimeIsNoEvidence) {
  order_.exam.limit_s = 1.5;
  const auto outcome = run({"--first-token-ms", "400"});
  ASSERT_TRUE(std::holds_alternative<NoExam>(outcome));
  EXPECT_THAT(std::get<NoExam>(outcome).reason, HasSubstr("ran out of time"));
}

TEST_F(ExamLeg, AStopIsNoEvidence) {
  const volatile bool stop = true;
  hooks_.stop_flag = &stop;
  const auto outcome = run({});
  ASSERT_TRUE(std::holds_alternative<NoExam>(outcome));
  EXPECT_EQ(std::get<NoExam>(outcome).reason, "stopped");
}

TEST_F(ExamLeg, AProvenWorseServerNeedNotAnswerTheRest) {
  ExamSheet stock = std::get<ExamSheet>(run({"--stop-after", "3"}));
  for (ExamAnswer& a : stock.answers) a.right = true;
  order_.exam.stock = &stock;
  const auto outcome = run({"--stop-after", "3"});
  ASSERT_TRUE(std::holds_alternative<ExamSheet>(outcome));
  EXPECT_LT(std::get<ExamSheet>(outcome).answers.size(), stock.answers.size());
}

}  // namespace
}  // namespace hyperloom

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/quality.h"

namespace hyperloom {
namespace {

std::string record(int id, const std::string& text, int tokens = 4, const std::string& state = "completed") {
  return Json{{"id", id}, {"state", state}, {"text", text}, {"output_tokens", tokens}}.dump() + "\n";
}

TEST(GreedyAgreement, MeanShareOfTheCommonPrefix) {
  const std::string a = record(0, "abcd") + record(1, "abcd") + record(2, "abcd");
  const std::string b = record(2, "abcdefgh") + record(0, "abcd") + record(1, "abXd");   // order does not matter
  const Agreement agreement = greedy_agreement(a, b);
  EXPECT_EQ(agreement.compared, 3);
  EXPECT_DOUBLE_EQ(agreement.share, (1 + 0.5 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(agreement.tokens_apart, 0);
}

TEST(GreedyAgreement, OnlyWhatCompletedInBothCounts) {
  const std::string a = record(0, "abcd") + record(1, "abcd", 4, "cut_off") + record(2, "abcd") + record(3, "");
  const std::string b = record(0, "abcd") + record(1, "abcd") + record(3, "");
  EXPECT_EQ(greedy_agreement(a, b).compared, 1);
}

TEST(GreedyAgreement, AnEmptyAnswerAgreesWithNone) {
  const Agreement agreement = greedy_agreement(record(0, ""), record(0, "abcd"));
  EXPECT_EQ(agreement.compared, 1);
  EXPECT_EQ(agreement.share, 0);
}

TEST(GreedyAgreement, NothingToCompareIsNotAgreement) {
  EXPECT_EQ(greedy_agreement("", "").compared, 0);
  EXPECT_EQ(greedy_agreement(record(0, "a"), record(1, "a")).compared, 0);
  EXPECT_LT(greedy_agreement("", "").tokens_apart, 0);
}

TEST(GreedyAgreement, TellsHowFarTheWorkLiesApart) {
  EXPECT_DOUBLE_EQ(greedy_agreement(record(0, "a", 60), record(0, "a", 80)).tokens_apart, 0.25);
}

TEST(GreedyAgreement, ReasoningIsPartOfTheAnswer) {
  const std::string thinking = Json{{"id", 0}, {"state", "completed"}, {"text", "x"}, {"reasoning", "abc"}}.dump();
  EXPECT_DOUBLE_EQ(greedy_agreement(thinking, record(0, "abcy")).share, 0.75);
}

TEST(GreedyAgreement, DamagedRecordsAreNamed) {
  try {
    greedy_agreement(record(0, "a") + "{\"id\": 1, \"sta", "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "request records, line 2: not a record");
  }
}

}  // namespace
}  // namespace hyperloom

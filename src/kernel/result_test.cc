#include "kernel/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "kernel/event_tail.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

ResultRules rules() {
  ResultRules made;
  made.task_id = "K1";
  made.nonce = "n1";
  made.recipes = {"fast"};
  made.candidates = 2;
  return made;
}

std::string result(const std::string& rest) {
  return R"({"protocol": 1, "task_id": "K1", "nonce": "n1", )" + rest + "}";
}

TEST(Result, each_breach_of_the_whole_is_named) {
  const struct {
    std::string text, reason;
  } cases[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{}", "protocol"},
      {R"({"protocol": 2})", "protocol"},
      {R"({"protocol": "1"})", "protocol"},
      {R"({"protocol": 1, "nonce": "n1", "task_id": "K2"})", "task_id"},
      {R"({"protocol": 1, "nonce": 7, "task_id": "K1"})", "nonce"},
      {result(R"("status": "excellent")"), "status"},
      {result(R"("status": "candidates", "candidates": {})"), "must be a list"},
      {result(R"("status": "candidates")"), "the list is empty"},
      {result(R"("status": "candidates", "candidates": [1, 2, 3])"), "more than 2"},
      {result(R"("status": "no_candidate", "candidates": [1])"), "with candidates"},
      {result(R"("status": "candidates", "candidates": )" + std::string(40, '[') +
              std::string(40, ']')),
       "too deep"},
  };
  for (const auto& c : cases) {
    const BackendOutcome got = parse_result(c.text, rules());
    EXPECT_EQ(got.status, "bad_output") << c.text;
    EXPECT_THAT(got.reason, HasSubstr(c.reason)) << c.text;
  }
}

TEST(Result, words_are_made_safe_for_reports) {
  const BackendOutcome got = parse_result(
      result(
          R"("status": "candidates", "candidates": [{"id": "a", "kind": "build", "value": "fast", "why": "\u001b[31mred\nline é"}])"),
      rules());
  ASSERT_EQ(got.claims.size(), 1u) << got.reason;
  EXPECT_EQ(got.claims[0].why, "?[31mred line é");
}

TEST(Printable, cuts_between_characters_and_replaces_broken_bytes) {
  EXPECT_EQ(printable("aé", 2), "a");
  EXPECT_EQ(printable("\xff\xc3(\xed\xa0\x80", 20), "?\?(?\?\?");
  EXPECT_EQ(printable("\xc2\x9b x", 20), "? x");
}

TEST(EventTail, counts_events_across_partial_writes) {
  const TempDir dir;
  const fs::path file = dir.path() / "events";
  EventTail tail(file);
  EXPECT_EQ(tail.read(), 0);
  std::ofstream out(file, std::ios::binary);
  out << R"({"kind": "progress", "message": "half)" << std::flush;
  EXPECT_EQ(tail.read(), 0);
  out << " and half\"}\nrubbish\n{\"kind\": 3}\n" << std::flush;
  EXPECT_EQ(tail.read(), 1);
  EXPECT_EQ(tail.last_message(), "half and half");
  EXPECT_EQ(tail.rubbish(), 2);
  EXPECT_EQ(tail.first_rubbish(), "rubbish");
}

}  // namespace
}  // namespace hyperloom

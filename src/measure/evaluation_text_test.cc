#include "measure/evaluation_text.h"

#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "measure/quality.h"

namespace hyperloom {
namespace {

// The bytes are part of every stored divergence: a change here makes old figures incomparable, so it must be meant.
TEST(EvaluationText, SameBytesEverywhere) {
  const std::string text = make_evaluation_text(3000, 7);
  EXPECT_EQ(text, make_evaluation_text(3000, 7));
  EXPECT_NE(text, make_evaluation_text(3000, 8));
  EXPECT_EQ(sha256_hex(text).substr(0, 16), "e9bb9d98099fe824");
}

TEST(EvaluationText, HoldsEnoughWordsForTheTokensAsked) {
  const TempDir dir;
  for (const int tokens : {512, 8192, 32768}) {
    const auto file = evaluation_text(dir.path() / "new", tokens);
    EXPECT_GE(split_words(read_file(file)).size(), tokens / 1.3) << tokens;
  }
}

TEST(EvaluationText, IsVaried) {
  const std::string text = make_evaluation_text(6300, 1);
  std::set<std::string> lines;
  int all = 0;
  for (const std::string& line : split(text, '\n')) {
    if (line.size() < 60) continue;
    ++all;
    lines.insert(line);
  }
  EXPECT_GT(static_cast<double>(lines.size()) / all, 0.7);   // passages come again only when all have been read
  const auto words = split_words(text);
  EXPECT_GT(std::set<std::string>(words.begin(), words.end()).size(), 2000u);
  for (const char* part : {"\n    return result\n", "The clerk: ", "| Town |", " ms\n", "screws", "Dear ", "SELECT "})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(text.find("{name}"), std::string::npos);
}

}  // namespace
}  // namespace hyperloom

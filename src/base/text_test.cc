#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/printable.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, SplitWordsDropsBlanks) {
  EXPECT_THAT(split_words("  a\tb \n c"), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(split_words(" \n").empty());
}

TEST(Text, TrimAndJoin) {
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, ReplaceAllDoesNotRescanItsOwnText) {
  EXPECT_EQ(replace_all("aXa", "a", "aa"), "aaXaa");
  EXPECT_EQ(replace_all("abc", "", "x"), "abc");
}

TEST(Text, NearestKnowsTyposAndRefusesStrangers) {
  const std::vector<std::string> known = {"threads", "batch-size", "flash-attn"};
  EXPECT_EQ(nearest("thread", known), "threads");
  EXPECT_EQ(nearest("bach-sise", known), "batch-size");
  EXPECT_EQ(nearest("zzzz", known), "");
  EXPECT_EQ(did_you_mean("thraeds", known), " (did you mean `threads`?)");
  EXPECT_EQ(did_you_mean("", known), "");
}

TEST(Text, ShellQuoteSurvivesAShell) {
  EXPECT_EQ(shell_quote("--port=80"), "--port=80");
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("a\nb"), "'a\nb'");
  EXPECT_EQ(shell_quote("~"), "'~'");
}

TEST(Text, HtmlEscape) {
  EXPECT_EQ(html_escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

TEST(Text, DurationsReadLikeAPersonSaysThem) {
  EXPECT_EQ(format_duration(0.25), "250 ms");
  EXPECT_EQ(format_duration(1), "1 s");
  EXPECT_EQ(format_duration(2.34), "2.3 s");
  EXPECT_EQ(format_duration(12), "12 s");
  EXPECT_EQ(format_duration(59.7), "1 min");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(7260), "2 h 1 min");
}

TEST(Text, BytesInDecimalUnits) {
  EXPECT_EQ(format_bytes(12), "12 B");
  EXPECT_EQ(format_bytes(98.4e6), "98.4 MB");
  EXPECT_EQ(format_bytes(999.96e6), "1.0 GB");
}

TEST(CleanLog, EscapesAndCarriageReturnsAreGone) {
  EXPECT_THAT(clean_log_lines("\x1b[1;31mred\x1b[0m\r\n10%\r20%\rdone\n"),
              ElementsAre("red", "10%", "20%", "done"));
  EXPECT_THAT(clean_log_lines("\x1b]0;title\a"
                              "a\x1b(Bb\n"),
              ElementsAre("ab"));
}

TEST(CleanLog, ACutEscapeHidesNothingOfTheNextLine) {
  EXPECT_THAT(clean_log_lines("x\x1b[31\nnext\x1b"), ElementsAre("x", "next"));
}

TEST(CleanLog, LongLinesAreCappedAndTheirNeighboursKept) {
  EXPECT_THAT(clean_log_lines(std::string(9000, 'x') + "\ncause", 5),
              ElementsAre("xxxxx", "cause"));
}

TEST(Printable, NothingSteersTheReader) {
  EXPECT_EQ(printable("a\x1b]0;owned\x07z\xE2\x80\xAE"), "a\xEF\xBF\xBD]0;owned\xEF\xBF\xBDz\xEF\xBF\xBD");
  EXPECT_EQ(printable("h\xC3\xA9\n\tx"), "h\xC3\xA9\n\tx");
  EXPECT_EQ(one_line("a\nb\rc"), "a b\xEF\xBF\xBD" "c");
  EXPECT_EQ(one_line("h\xC3\xA9llo", 2), "h\xC3\xA9") << "characters, not bytes";
}

TEST(CleanLog, CaseE07) {
  const auto lines = clean_log_lines(read_file(HYPERLOOM_CASES "/e07-ansi-and-progress.log"));
  ASSERT_FALSE(lines.empty());
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 2000u);
    EXPECT_EQ(line.find_first_of("\x1b\r\n"), std::string::npos);
  }
  EXPECT_THAT(join(lines, "\n"), HasSubstr("out of memory"));
}

}  // namespace
}  // namespace hyperloom

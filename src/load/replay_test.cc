#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "load/request_trace.h"
#include "workload/trace_file.h"

namespace hyperloom {
namespace {

int words_in(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), ' ')) + 1; }

int shared_words(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<int>(std::count(a.begin(), end, ' '));
}

class ReplayTest : public testing::Test {
 protected:
  Traffic replay_of(const std::string& lines, double speed = 1) {
    const fs::path file = folder_.path() / "trace";
    write_file(file, lines);
    Traffic traffic;
    set_trace(traffic, file.string(), speed);
    return traffic;
  }
  TempDir folder_;
};

constexpr char kLines[] = R"({"timestamp": 0, "input_length": 1100, "output_length": 52, "hash_ids": [4, 7, 9]}
{"timestamp": 500, "input_length": 1030, "output_length": 9, "hash_ids": [4, 7, 8]}
{"timestamp": 500, "input_length": 600, "output_length": 3, "hash_ids": [4]}
{"timestamp": 2000, "input_length": 1100, "output_length": 5, "hash_ids": [5, 7, 9]}
)";

TEST_F(ReplayTest, LengthsAndTimesAreTheFiles) {
  const RequestTrace trace = make_trace(replay_of(kLines, 2), 1, 4, 1.0);
  const std::vector<double> times = {0, 0.25, 0.25, 1};
  const std::vector<int> words = {1100, 1030, 600, 1100}, answers = {52, 9, 3, 5};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(trace.requests[i].at_s, times[i]);
    EXPECT_EQ(words_in(prompt_text(trace.requests[i])), words[i]);
    EXPECT_EQ(trace.requests[i].prompt_tokens, words[i]);
    EXPECT_EQ(trace.requests[i].max_tokens, answers[i]);
  }
  EXPECT_NEAR(words_in(prompt_text(make_trace(replay_of(kLines), 1, 1, 1.25).requests[0])), 880, 2);
}

TEST_F(ReplayTest, EqualHashIdsAreEqualText) {
  const RequestTrace trace = make_trace(replay_of(kLines), 1, 4, 1.0);
  std::vector<std::string> prompts;
  for (const PlannedRequest& request : trace.requests) prompts.push_back(prompt_text(request));
  EXPECT_EQ(shared_words(prompts[0], prompts[1]), 1024);
  EXPECT_EQ(shared_words(prompts[0], prompts[2]), 512);
  EXPECT_LE(shared_words(prompts[0], prompts[3]), 1);
  EXPECT_THAT(prompts[3], testing::EndsWith(prompts[0].substr(prompts[0].size() - 400))) << "ids 7 and 9, though no prefix";
  const std::vector<double> shared = {0, 1024.0 / 1030, 512.0 / 600, 0};
  for (size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(trace.requests[i].shared, shared[i]);
}

TEST_F(ReplayTest, APartOfABlockBeginsIt) {
  const RequestTrace trace = make_trace(replay_of(R"({"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}
{"timestamp": 0, "input_length": 100, "output_length": 1, "hash_ids": [1]})"), 1, 2, 1.0);
  EXPECT_GE(shared_words(prompt_text(trace.requests[1]), prompt_text(trace.requests[0])), 99);
}

TEST_F(ReplayTest, TheSeedIsTheTextForEver) {
  const Traffic traffic = replay_of(kLines);
  EXPECT_EQ(make_trace(traffic, 42, 4, 1.25).sha256, "81fdbe7cb0d899b99cf9c5fc4b75a828968fe3a9f0a0a67bfb9774216b96f0bc");
  EXPECT_EQ(prompt_text(make_trace(traffic, 42, 3, 40).requests[2]), "Lemon mirror fact on expect expect moon appear follow full. Machine law ocean. Seed clear.");
  EXPECT_NE(make_trace(traffic, 43, 4, 1.25).sha256, make_trace(traffic, 42, 4, 1.25).sha256);
  EXPECT_LE(shared_words(prompt_text(make_trace(traffic, 42, 1, 1).requests[0]), prompt_text(make_trace(traffic, 43, 1, 1).requests[0])), 1);
}

TEST_F(ReplayTest, AShortFileGoesRoundAgainWithOtherText) {
  const RequestTrace trace = make_trace(replay_of(kLines), 1, 9, 1.0);
  EXPECT_NEAR(trace.requests[4].at_s, 2 + 2 / 3.0, 1e-12);   // after a mean gap
  EXPECT_NEAR(trace.requests[8].at_s, 2 * (2 + 2 / 3.0), 1e-12);
  EXPECT_LE(shared_words(prompt_text(trace.requests[0]), prompt_text(trace.requests[4])), 1);
  EXPECT_EQ(trace.requests[4].shared, 0);
}

TEST_F(ReplayTest, AnHourOfLongPromptsTakesLittleMemory) {
  std::string lines;
  for (int i = 0; i < 2000; ++i)
    lines += R"({"timestamp": )" + std::to_string(i) + R"(, "input_length": 10240, "output_length": 1, "hash_ids": [1]})" "\n";
  const RequestTrace trace = make_trace(replay_of(lines), 1, 2000, 1.0);
  size_t held = 0;
  for (const PlannedRequest& r : trace.requests) held += r.prompt.size() + r.blocks.size() * sizeof(TextBlock);
  EXPECT_LT(held, 2000u * 100) << "the texts would be 100 MB";
}

}  // namespace
}  // namespace hyperloom

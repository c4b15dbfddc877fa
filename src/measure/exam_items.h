// The exam's questions, of our own: short continuations that a small base model can do, questions that an instructed model
// answers in a sentence and ends, and questions about one long text. Answers can be checked, and most hold names and numbers
// drawn by the seed, so that an answer to another question is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hyperloom {

struct ExamItem {
  std::string kind;                      // copy, reverse_lookup, sum, pattern, format, chat, long_recall
  std::string prompt;                    // for a plain completion; of a chat: the user's message
  std::string expected;                  // how a right answer begins, but for white space and case; of a chat: a word in it
  int max_tokens = 0;
  bool alone = false;                    // asked a second time with nothing else in flight
  bool chat() const { return kind == "chat"; }
  bool is_long() const { return kind == "long_recall"; }
};

constexpr int kShortItems = 65, kChatItems = 24, kLongItems = 16;
constexpr int kLongTokens = 1500;        // about; all long items ask about the same text

// kShortItems, then kChatItems, then kLongItems. The same seed gives the same bytes.
std::vector<ExamItem> exam_items(uint64_t seed, int long_tokens = kLongTokens);

bool answers(const ExamItem& item, const std::string& text);

}  // namespace hyperloom

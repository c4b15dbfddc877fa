// The exam's questions: short continuations of our own that a small base model can do, with answers that can be checked.
// Each holds names and numbers drawn by the seed, so an answer to another question is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hyperloom {

struct ExamItem {
  std::string kind;                      // copy, reverse_lookup, sum, pattern, format, long_recall
  std::string prompt;                    // for a plain completion
  std::string expected;                  // how a right answer begins, but for white space and case
  int max_tokens = 0;
};

// The kinds take turns. The same seed gives the same bytes. A long_recall has about 350 tokens, the others 20 to 70.
std::vector<ExamItem> exam_items(uint64_t seed, int count);

bool answers(const ExamItem& item, const std::string& text);

}  // namespace hyperloom

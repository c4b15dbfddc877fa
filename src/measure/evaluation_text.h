// Text of our own that a model reads while its logits are compared. Same arguments, same bytes, on any machine.
#pragma once

#include <cstdint>
#include <string>

namespace hyperloom {

// At least `words` blank-separated words: written prose, dialogue, tables, code-like lines, logs, sums, letters.
std::string make_evaluation_text(int words, uint64_t seed);

}  // namespace hyperloom

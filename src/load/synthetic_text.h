// English-looking sentences of common words: text for prompts whose content does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "load/random.h"

namespace hyperloom {

constexpr double kDefaultTokensPerWord = 1.15;   // of this vocabulary with its full stops, most tokenizers

size_t vocabulary_size();

// Sentences of 6 to 14 words, after a blank where `text` holds some. `first` is the place of the first word in the vocabulary, so
// that the caller can make prompts differ from there on.
void append_text(std::string& text, int words, size_t first, Random& random);

// At least 1.
int words_for(double tokens, double tokens_per_word);

// A stretch of text that is a function of these alone: equal blocks are equal text, and the shorter of two with one seed
// begins the longer (but for its full stop).
struct TextBlock {
  uint64_t seed;
  int words;
};
void append_text(std::string& text, const TextBlock& block);

}  // namespace hyperloom

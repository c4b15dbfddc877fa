#include "load/synthetic_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "load/common_words.h"

namespace hyperloom {

size_t vocabulary_size() { return std::size(kCommonWords); }

void append_text(std::string& text, int words, size_t first, Random& random) {
  size_t left = 0;
  for (int i = 0; i < words; ++i) {
    const bool opens = left == 0;
    if (opens) left = 6 + random.below(9);
    if (!text.empty()) text += ' ';
    const size_t start = text.size();
    text += kCommonWords[i == 0 ? first : random.below(vocabulary_size())];
    if (opens) text[start] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[start])));
    if (--left == 0 || i + 1 == words) text += '.';
  }
}

int words_for(double tokens, double tokens_per_word) { return std::max(1, static_cast<int>(std::lround(tokens / tokens_per_word))); }

void append_text(std::string& text, const TextBlock& block) {
  Random random(block.seed);
  const size_t first = random.below(vocabulary_size());
  append_text(text, block.words, first, random);
}

}  // namespace hyperloom

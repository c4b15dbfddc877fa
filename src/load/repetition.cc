#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "load/metrics.h"

namespace hyperloom {

namespace {

constexpr size_t kLeastBytes = 24;
constexpr size_t kTailBytes = 1 << 16;

// The text ends in a cycle of at least four rounds that covers most of it. Read backwards, the longest prefix
// with period p is p plus the match of the text with itself shifted by p: one Z function gives it for every p.
bool ends_in_cycle(const std::string& text) {
  const std::string s(text.rbegin(), text.rend());
  const size_t n = s.size();
  std::vector<size_t> z(n, 0);
  for (size_t i = 1, left = 0, right = 0; i < n; ++i) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < n && s[z[i]] == s[i + z[i]]) ++z[i];
    if (i + z[i] > right) {
      left = i;
      right = i + z[i];
    }
    const size_t covered = i + z[i];
    if (covered >= 4 * i && covered >= kLeastBytes && 2 * covered >= n) return true;
  }
  return false;
}

// Loops that drift (a counter, a changing name) close no exact cycle, but use few different word groups.
bool has_few_word_groups(const std::string& text) {
  constexpr size_t kGroup = 3, kLeastGroups = 40;
  const std::vector<std::string> words = split_words(text);
  if (words.size() < kLeastGroups + kGroup) return false;
  std::set<std::string> different;
  const size_t groups = words.size() - kGroup + 1;
  for (size_t i = 0; i < groups; ++i) {
    different.insert(words[i] + " " + words[i + 1] + " " + words[i + 2]);
  }
  return different.size() * 10 < groups * 3;
}

}  // namespace

bool looks_repetitive(const std::string& text) {
  const std::string tail = text.size() > kTailBytes ? text.substr(text.size() - kTailBytes) : text;
  return tail.size() >= kLeastBytes && (ends_in_cycle(tail) || has_few_word_groups(tail));
}

}  // namespace hyperloom

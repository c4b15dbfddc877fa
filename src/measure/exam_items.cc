#include "measure/exam_items.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "load/random.h"

namespace hyperloom {
namespace {

using Words = std::vector<std::string>;

const Words kNames = {"Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Henry", "Karen", "Leo", "Nina", "Oscar", "Paul", "Rosa", "Tina"};
const Words kCities = {"Paris", "London", "Rome", "Madrid", "Berlin", "Vienna", "Oslo", "Cairo", "Lima", "Tokyo"};
const Words kColours = {"red", "blue", "green", "yellow", "black", "white", "brown", "pink"};
const Words kAnimals = {"dog", "cat", "horse", "cow", "sheep", "goat", "duck", "mouse", "rabbit", "fox"};
const Words kSentences = {
    "The market opens at eight in the morning.", "Most trains were late because of the snow.", "She put the letters back into the drawer.",
    "The garden behind the house needs water in summer.", "They talked about the weather for a while.", "A boat crossed the lake without a sound.",
    "He bought bread, milk and two apples.", "The meeting was moved to another room.", "Children played near the old bridge.",
    "The report was longer than last year."};
constexpr size_t kLongSentences = 30;

const std::string& one_of(Random& random, const Words& words) { return words[random.below(words.size())]; }

Words some_of(Random& random, Words words, size_t count) {
  random.shuffle(words);
  words.resize(count);
  return words;
}

std::string number(Random& random, int low, int high) { return std::to_string(low + static_cast<int>(random.below(static_cast<size_t>(high - low + 1)))); }

std::string code(Random& random) {
  const std::string letters = "BCDFGHKLMNPRSTVXZ";
  return std::string{letters[random.below(letters.size())], letters[random.below(letters.size())]} + number(random, 100, 999);
}

ExamItem copy(Random& r) {
  const auto text = [&] { return one_of(r, kColours) + " " + one_of(r, kAnimals) + " " + code(r); };
  const std::string a = text(), b = text(), c = text();
  return {"copy", "Text: " + a + "\nCopy: " + a + "\n\nText: " + b + "\nCopy: " + b + "\n\nText: " + c + "\nCopy:", c, 16};
}

ExamItem reverse_lookup(Random& r) {
  const Words names = some_of(r, kNames, 4), cities = some_of(r, kCities, 4);
  std::string prompt = "Who lives where.";
  for (size_t i = 0; i < names.size(); i++) prompt += " " + cities[i] + ": " + names[i] + ".";
  const size_t asked = r.below(names.size());
  return {"reverse_lookup", prompt + " Again: " + cities[asked] + ":", names[asked], 6};
}

ExamItem sum(Random& r) {
  std::string prompt;
  for (int shown = 0; shown < 4; shown++) {
    const int a = 1 + static_cast<int>(r.below(9)), b = 1 + static_cast<int>(r.below(9));
    prompt += std::to_string(a) + " + " + std::to_string(b) + " =";
    if (shown == 3) return {"sum", prompt, std::to_string(a + b), 6};
    prompt += " " + std::to_string(a + b) + "\n";
  }
  return {};
}

ExamItem pattern(Random& r) {
  if (r.below(2)) {
    const int start = 1 + static_cast<int>(r.below(30)), step = std::array{1, 2, 5, 10}[r.below(4)];
    std::string prompt = "Continue the list with the next number.\n";
    for (int i = 0; i < 5; i++) prompt += std::to_string(start + i * step) + (i < 4 ? ", " : ",");
    return {"pattern", prompt, std::to_string(start + 5 * step), 6};
  }
  const Words cycle = some_of(r, kAnimals, 3);
  std::string prompt = "Continue the list with the next word.\n";
  for (int i = 0; i < 10; i++) prompt += cycle[static_cast<size_t>(i % 3)] + (i < 9 ? ", " : ",");
  return {"pattern", prompt, cycle[1], 6};
}

ExamItem format(Random& r) {
  std::string prompt;
  for (int shown = 0; shown < 2; shown++) {
    const std::string word = one_of(r, kAnimals) + number(r, 10, 99);
    prompt += "Word: " + word + "\nIn brackets: [" + word + "]\n\n";
  }
  const std::string word = one_of(r, kAnimals) + number(r, 10, 99);
  return {"format", prompt + "Word: " + word + "\nIn brackets:", "[" + word + "]", 10};
}

ExamItem long_recall(Random& r) {
  const std::string secret = number(r, 100, 999);
  const size_t place = r.below(kLongSentences);
  std::string prompt;
  for (size_t i = 0; i < kLongSentences; i++) {
    if (i == place) prompt += "The number of the locker is " + secret + ". ";
    prompt += one_of(r, kSentences) + " ";
  }
  return {"long_recall", prompt + "And again: the number of the locker is", secret, 8};
}

}  // namespace

std::vector<ExamItem> exam_items(uint64_t seed, int count) {
  constexpr std::array kKinds = {copy, reverse_lookup, sum, pattern, format, long_recall};
  Random random(seed);
  std::vector<ExamItem> items;
  for (int i = 0; i < count; i++) items.push_back(kKinds[static_cast<size_t>(i) % kKinds.size()](random));
  return items;
}

bool answers(const ExamItem& item, const std::string& text) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b)); };
  const std::string said = trim(text);
  const size_t n = item.expected.size();
  if (said.size() < n || !std::equal(item.expected.begin(), item.expected.end(), said.begin(), same)) return false;
  // 14 is no answer where 1 is asked for.
  return said.size() == n || !std::isalnum(static_cast<unsigned char>(said[n])) || !std::isalnum(static_cast<unsigned char>(said[n - 1]));
}

}  // namespace hyperloom

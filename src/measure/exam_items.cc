#include "measure/exam_items.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "load/random.h"

namespace hyperloom {
namespace {

using Words = std::vector<std::string>;

const Words kNames = {"Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Henry", "Karen", "Leo", "Nina", "Oscar", "Paul", "Rosa", "Tina"};
const Words kLongNames = {"Adam", "Bella", "Carlos", "Diana", "Edgar", "Fiona", "Gustav", "Hanna", "Igor", "Julia", "Kevin", "Laura",
                          "Martin", "Nora", "Otto", "Petra", "Robert", "Sarah", "Thomas", "Victor"};
const Words kCities = {"Paris", "London", "Rome", "Madrid", "Berlin", "Vienna", "Oslo", "Cairo", "Lima", "Tokyo"};
const Words kColours = {"red", "blue", "green", "yellow", "black", "white", "brown", "pink"};
const Words kAnimals = {"dog", "cat", "horse", "cow", "sheep", "goat", "duck", "mouse", "rabbit", "fox"};
const Words kSentences = {
    "The market opens at eight in the morning.", "Most trains were late because of the snow.", "She put the letters back into the drawer.",
    "The garden behind the house needs water in summer.", "They talked about the weather for a while.", "A boat crossed the lake without a sound.",
    "He bought bread, milk and two apples.", "The meeting was moved to another room.", "Children played near the old bridge.",
    "The report was longer than last year.", "Somebody had left an umbrella in the hall.", "The road to the station is being repaired.",
    "In the evening the lamps were lit one by one.", "The cook asked for more salt and a larger pan.", "Nobody remembered who had closed the window.",
    "The train to the coast leaves every hour.", "Two men carried a long table up the stairs.", "It took the painter a week to finish the door."};
const std::vector<std::pair<std::string, std::string>> kCapitals = {{"France", "Paris"}, {"Italy", "Rome"}, {"Spain", "Madrid"}, {"Germany", "Berlin"},
                                                                    {"Japan", "Tokyo"}, {"Egypt", "Cairo"}, {"Austria", "Vienna"}, {"Norway", "Oslo"}};
constexpr double kTokensPerSentence = 10.5;    // of kSentences
constexpr size_t kAloneEvery = 5;              // of the short items; of the chats every second

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
  return {"copy", "Text: " + a + "\nCopy: " + a + "\n\nText: " + b + "\nCopy: " + b + "\n\nText: " + c + "\nCopy:", c, 12};
}

ExamItem reverse_lookup(Random& r) {
  const Words names = some_of(r, kNames, 4), cities = some_of(r, kCities, 4);
  std::string prompt = "Who lives where.";
  for (size_t i = 0; i < names.size(); i++) prompt += " " + cities[i] + ": " + names[i] + ".";
  const size_t asked = r.below(names.size());
  return {"reverse_lookup", prompt + " Again: " + cities[asked] + ":", names[asked], 4};
}

ExamItem sum(Random& r) {
  std::string prompt;
  for (int shown = 0; shown < 4; shown++) {
    const int a = 1 + static_cast<int>(r.below(9)), b = 1 + static_cast<int>(r.below(9));
    prompt += std::to_string(a) + " + " + std::to_string(b) + " =";
    if (shown == 3) return {"sum", prompt, std::to_string(a + b), 4};
    prompt += " " + std::to_string(a + b) + "\n";
  }
  return {};
}

ExamItem pattern(Random& r) {
  if (r.below(2)) {
    const int start = 1 + static_cast<int>(r.below(30)), step = std::array{1, 2, 5, 10}[r.below(4)];
    std::string prompt = "Continue the list with the next number.\n";
    for (int i = 0; i < 5; i++) prompt += std::to_string(start + i * step) + (i < 4 ? ", " : ",");
    return {"pattern", prompt, std::to_string(start + 5 * step), 4};
  }
  const Words cycle = some_of(r, kAnimals, 3);
  std::string prompt = "Continue the list with the next word.\n";
  for (int i = 0; i < 10; i++) prompt += cycle[static_cast<size_t>(i % 3)] + (i < 9 ? ", " : ",");
  return {"pattern", prompt, cycle[1], 4};
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

// Short sentences that a model ends by itself, long before max_tokens.
ExamItem chat(Random& r, size_t turn) {
  constexpr int kTokens = 40;
  const std::string ask = " Answer in one short sentence.";
  const std::string name = one_of(r, kNames), animal = one_of(r, kAnimals), colour = one_of(r, kColours), city = one_of(r, kCities);
  switch (turn % 4) {
    case 0:
      return {"chat", name + " has a " + colour + " " + animal + ". What colour is the " + animal + "?" + ask, colour, kTokens};
    case 1:
      return {"chat", name + " lives in " + city + ". Where does " + name + " live?" + ask, city, kTokens};
    case 2: {
      const auto& [country, capital] = kCapitals[r.below(kCapitals.size())];
      return {"chat", "What is the capital of " + country + "?" + ask, capital, kTokens};
    }
    default:
      return {"chat", "Say hello to " + name + " in one short sentence.", name, kTokens};
  }
}

// One text with a fact every few sentences, then a question about each fact: an engine that keeps prefixes reads it once.
void add_long(Random& r, int tokens, std::vector<ExamItem>& items) {
  const Words names = some_of(r, kLongNames, kLongItems);
  const size_t sentences = std::max(names.size(), static_cast<size_t>(std::max(0.0, tokens / kTokensPerSentence)));
  std::string text;
  Words secrets;
  for (size_t i = 0; i < sentences; i++) {
    while (secrets.size() < names.size() && secrets.size() * sentences <= i * names.size()) {
      secrets.push_back(number(r, 100, 999));
      text += "The number of the locker of " + names[secrets.size() - 1] + " is " + secrets.back() + ". ";
    }
    text += one_of(r, kSentences) + " ";
  }
  std::vector<size_t> order(secrets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  r.shuffle(order);
  for (size_t i : order) items.push_back({"long_recall", text + "\n\nAs said above, the number of the locker of " + names[i] + " is", secrets[i], 6});
}

}  // namespace

std::vector<ExamItem> exam_items(uint64_t seed, int long_tokens) {
  constexpr std::array kKinds = {copy, reverse_lookup, sum, pattern, format};
  Random random(seed);
  std::vector<ExamItem> items;
  for (size_t i = 0; i < kShortItems; i++) {
    items.push_back(kKinds[i % kKinds.size()](random));
    items.back().alone = i % kAloneEvery == (i / kAloneEvery) % kAloneEvery;   // each kind in turn
  }
  for (size_t i = 0; i < kChatItems; i++) {
    items.push_back(chat(random, i));
    items.back().alone = (i + i / 4) % 2 == 0;
  }
  add_long(random, long_tokens, items);
  return items;
}

bool answers(const ExamItem& item, const std::string& text) {
  const auto lower = [](std::string s) {
    for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return s;
  };
  const auto in_word = [](const std::string& s, size_t at) { return at < s.size() && std::isalnum(static_cast<unsigned char>(s[at])); };
  const std::string said = lower(trim(text)), expected = lower(item.expected);
  // 14 is no answer where 1 is asked for.
  const auto whole = [&](size_t at) {
    const size_t end = at + expected.size();
    return !(in_word(said, end) && in_word(said, end - 1)) && (at == 0 || !in_word(said, at - 1));
  };
  if (!item.chat()) return said.compare(0, expected.size(), expected) == 0 && whole(0);
  for (size_t at = said.find(expected); at != std::string::npos; at = said.find(expected, at + 1))
    if (whole(at)) return true;
  return false;
}

}  // namespace hyperloom

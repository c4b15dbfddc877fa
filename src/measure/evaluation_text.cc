// The evaluation text: hand-written passages in seeded order, between dialogue, tables, logs, code and letters
// from a seeded grammar. Deterministic across compilers: own generator, integers only.
#include "measure/evaluation_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "measure/quality.h"

namespace hyperloom {
namespace {

using Words = std::vector<const char*>;

const Words kPassages = {
#include "measure/evaluation_sentences.inc"
};

// What a slot may become. A slot is {word}, drawn anew; {x:word}, drawn and remembered as x; {x}, as remembered;
// or a number {12..950}, {x:12..950}. "{{" is a brace.
const std::map<std::string, Words> kLexicon = {
    {"name", {"Ana", "Bertil", "Chiara", "Dmitri", "Esther", "Farid", "Grace", "Hiro", "Ines", "Jonas",
              "Kemal", "Lucia", "Miriam", "Niall", "Oksana", "Pablo", "Quinn", "Rosa", "Samuel", "Thandi",
              "Ulrich", "Vera", "Wanda", "Yusuf"}},
    {"town", {"Aldermoor", "Brescia", "Corvalle", "Dunmore", "Eastwick", "Falkenau", "Gravesham",
              "Harrowby", "Innsford", "Jasper Bay", "Kilbride", "Lyndale"}},
    {"thing", {"pump", "ledger", "ladder", "engine", "bicycle", "compass", "window", "carpet", "violin",
               "parcel", "kettle", "battery", "telescope", "gate"}},
    {"kind", {"rusty", "heavy", "borrowed", "narrow", "green", "broken", "second", "quiet", "costly",
              "spare", "wooden", "foreign", "missing", "clean"}},
    {"verb", {"repair", "sell", "paint", "measure", "hide", "return", "weigh", "carry", "replace", "test",
              "photograph", "insure", "label", "lend"}},
    {"when", {"before noon", "on Friday", "next spring", "after the storm", "tonight", "within a week",
              "at the end of the month", "during the holidays"}},
    {"reason", {"the road is closed", "nobody has the key", "the price has doubled", "my brother needs it",
                "the inspector is coming", "it makes that noise again", "there is no room left",
                "we promised the neighbours", "it belongs to the school"}},
    {"field", {"count", "offset", "weight", "total", "depth", "limit", "width", "index", "delay", "budget",
               "left", "score"}},
    {"service", {"gateway", "billing", "search", "mailer", "cache", "scheduler", "auth"}},
    {"outcome", {"INFO", "INFO", "INFO", "WARN"}},
    {"bool", {"true", "false"}},
};

const Words kReplies = {
    "We have to {verb} the {kind} {thing} {when}.",
    "Did you {verb} the {thing}, or is it still in {town}?",
    "I would, but {reason}, and {name} said no.",
    "That {thing} cost me {12..950} euros and {2..40} days.",
    "Because {reason}. Ask {name} about the {kind} one.",
    "Then {verb} it {when}; {name} will pay half.",
    "No. The {kind} {thing} stays in {town} until {name} comes back.",
};
const Words kRows = {"| {town} | {3..88} | {8..140}.{0..9} | {31..260} EUR | {kind} {thing} |"};
const Words kLogs = {"{10..23}:{10..59}:{10..59} {outcome} {service}: served {1..500} requests in {3..9000} ms",
                     "{10..23}:{10..59}:{10..59} {outcome} {service}: retry {1..9} after {100..999} ms, {reason}"};
const Words kSnippets = {
    "def {a:field}_{b:field}(items, {b}={2..4096}):\n    \"\"\"Returns the {a} of all items above the {b}.\"\"\"\n"
    "    result = 0\n    for item in items:\n        if item.{b} > {b}:\n            result += item.{a} * {2..9}\n"
    "    return result\n",
    "int {a:thing}_{b:field}(const struct {a} *p, int n) {{\n  int {b} = 0;\n  for (int i = 0; i < n; i++) {{\n"
    "    if (p[i].{c:field} >= {2..4096}) {b} += p[i].{c};\n  }\n  return {b};  // in units of {field}\n}\n",
    "{{\"id\": {1000..99999}, \"owner\": \"{name}\", \"{field}\": {0..4096}, \"tags\": [\"{kind}\", \"{thing}\"], "
    "\"active\": {bool}}\nSELECT {a:field}, {b:field} FROM {thing}s WHERE {b} < {10..900} ORDER BY {a} DESC;\n",
};
const Words kLetters = {
    "Dear {name},\nthank you for your letter of {1..30} April. I am sorry to hear that {reason}. I can be in {town} "
    "{when} and shall bring the {kind} {thing}.\nYours, {name}\n",
    "To all tenants of {1..99} {town} Road: {reason}. Whoever wants to {verb} the {kind} {thing} should write to "
    "{name} {when}, with the number {1000..9999} on the envelope.\n",
};

// SplitMix64: the standard distributions differ between libraries, so none is used.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int number(int low, int high) { return low + static_cast<int>(next() % (high - low + 1)); }
  const char* of(const Words& words) { return words[next() % words.size()]; }

 private:
  uint64_t state_;
};

std::string draw(Dice& dice, const std::string& slot) {
  const size_t dots = slot.find("..");
  if (dots != std::string::npos)
    return std::to_string(dice.number(std::stoi(slot), std::stoi(slot.substr(dots + 2))));
  return dice.of(kLexicon.at(slot));
}

// Fills the slots from left to right, so that the draws come in one order whatever the compiler.
std::string fill(Dice& dice, const std::string& pattern) {
  std::map<std::string, std::string> remembered;
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{') {
      text += pattern[i];
    } else if (pattern[i + 1] == '{') {
      text += pattern[i++];
    } else {
      const size_t close = pattern.find('}', i);
      const std::string slot = pattern.substr(i + 1, close - i - 1);
      const size_t colon = slot.find(':');
      if (colon != std::string::npos)
        text += remembered[slot.substr(0, colon)] = draw(dice, slot.substr(colon + 1));
      else
        text += remembered.count(slot) ? remembered[slot] : draw(dice, slot);
      i = close;
    }
  }
  return text;
}

std::string lines(Dice& dice, const Words& patterns, int low, int high) {
  std::string text;
  for (int left = dice.number(low, high); left > 0; --left) text += fill(dice, dice.of(patterns)) + "\n";
  return text;
}

std::string dialogue(Dice& dice) {
  const std::string first = dice.of(kLexicon.at("name"));
  std::string text;
  for (int turns = dice.number(4, 7), i = 0; i < turns; ++i)
    text += (i % 2 == 0 ? first : "The clerk") + ": " + fill(dice, dice.of(kReplies)) + "\n";
  return text;
}

std::string sum(Dice& dice) {
  const int boxes = dice.number(3, 60), screws = dice.number(12, 400), used = dice.number(5, 90);
  return fill(dice, fmt::format("{{name}} buys {0} boxes with {1} screws each and uses {2} of them for a {{kind}} {{thing}}. "
                                "There were {0} * {1} = {3} screws, so {3} - {2} = {4} are left.\n",
                                boxes, screws, used, boxes * screws, boxes * screws - used));
}

}  // namespace

std::string make_evaluation_text(int words, uint64_t seed) {
  Dice dice(seed);
  std::vector<size_t> order;             // passages of this round: each is read once before any is again
  std::string text;
  for (size_t count = 0; count < static_cast<size_t>(words);) {
    std::string part;
    switch (dice.number(0, 12)) {
      case 0: part = dialogue(dice); break;
      case 1: part = "| Town | Rooms | Rain (mm) | Price | Note |\n|---|---|---|---|---|\n" + lines(dice, kRows, 3, 6); break;
      case 2: part = fill(dice, dice.of(kSnippets)); break;
      case 3: part = lines(dice, kLogs, 3, 5); break;
      case 4: part = sum(dice); break;
      case 5: part = fill(dice, dice.of(kLetters)); break;
      default: {
        if (order.empty()) {
          order.resize(kPassages.size());
          std::iota(order.begin(), order.end(), size_t{0});
          for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[dice.next() % (i + 1)]);
        }
        part = replace_all(kPassages[order.back()], "\n", " ") + "\n";
        order.pop_back();
      }
    }
    count += split_words(part).size();
    text += part + "\n";
  }
  return text;
}

std::filesystem::path evaluation_text(const std::filesystem::path& folder, int tokens) {
  // 1.3 tokens a word is the margin itself: with its names, numbers and code the text has 1.57 by a vocabulary of
  // 49,000 (measured). A tool that runs out of text refuses or measures less.
  const int words = static_cast<int>(tokens / 1.3) + 1;
  const auto file = folder / fmt::format("evaluation-{}.txt", tokens);
  make_folders(folder);
  write_file(file, make_evaluation_text(words, 20261201));
  return file;
}

}  // namespace hyperloom

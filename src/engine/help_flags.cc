// Which flags a build's help text shows (engine/server.h).
#include <cctype>

#include "base/text.h"
#include "engine/server.h"

namespace hyperloom {
namespace {

constexpr size_t kMostIndent = 12;

bool is_flag(const std::string& word) {
  const size_t letter = word.find_first_not_of('-');
  return letter != std::string::npos && letter >= 1 && letter <= 2 && std::isalpha(static_cast<unsigned char>(word[letter]));
}

// "[--model" and "--model]" and "--parallel," and "--port=PORT" all mean the flag.
std::string bare(std::string word) {
  word.erase(0, word.find_first_not_of("[({|"));
  return word.substr(0, word.find_first_of(",]|)}="));
}

}  // namespace

// A flag's line starts with it: "-t,  --threads N  words" or "--model MODEL, -m MODEL"; a usage line holds [--flag X].
// Words of the description are not read: they name flags that were removed.
std::set<std::string> flags_in_help(const std::string& help_text) {
  std::set<std::string> flags;
  for (const std::string& line : clean_log_lines(help_text)) {
    const std::vector<std::string> words = split_words(line);
    if (words.empty() || line.find("has been removed") != std::string::npos) continue;
    const bool usage = words[0] == "usage:" || starts_with(words[0], "[");
    const bool description = line.find_first_not_of(" \t") > kMostIndent;   // a wrapped line of one may start with a flag
    if (!usage && (description || !is_flag(bare(words[0])))) continue;
    for (const std::string& word : words) {
      if (is_flag(bare(word))) {
        if (!usage || word[0] == '[') flags.insert(bare(word));
      } else if (!usage && !ends_with(word, ",")) {
        break;   // the description, or the value's name before it
      }
    }
  }
  return flags;
}

}  // namespace hyperloom

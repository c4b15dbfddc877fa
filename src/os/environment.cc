// What gives a secret away, and clean_environment of os/child.h.
#include "os/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "base/text.h"
#include "os/child.h"

namespace hyperloom {
namespace {

const char kTokenStarts[] = "(hf_|sk-|ghp_|glpat-|AKIA)";

// An argument is only called a token where no path or name goes on: hf_models/x is none.
std::string token_in(const std::string& word) {
  static const std::regex kToken(std::string("(^|[=: \"'])") + kTokenStarts +
                                 "[A-Za-z0-9_-]{16}");
  std::smatch match;
  if (word.find('/') != std::string::npos || !std::regex_search(word, match, kToken)) return "";
  return match[2].str() + "***";
}

// --api-key as API_KEY would be judged, but by its last part alone: --api-key-file names a file.
bool flag_names_a_secret(const std::string& flag, const std::string& value) {
  if (value.empty() || starts_with(value, "-")) return false;  // a switch, such as --use-token
  const std::string part = flag.substr(flag.find_last_of("-_") + 1);
  const bool number = value.find_first_not_of("0123456789") == std::string::npos;
  return names_a_secret(part, value) && !(part == "token" && number);  // --pad-token 0
}

bool is_variable(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

// Ends of words, so that OPENAI_API_KEY, apikey and HF_TOKEN go while TOKENIZERS_PARALLELISM and
// KEYMAP stay.
bool names_a_secret(const std::string& name, const std::string& value) {
  static const std::vector<std::string> kSecretEnds = {
      "KEY",      "KEYS",   "TOKEN",      "SECRET",     "SECRETS",
      "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS"};
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  for (const std::string& word : split(upper, '_')) {
    if (word == "PAT" || word == "PASS") return true;
    for (const std::string& end : kSecretEnds) {
      if (ends_with(word, end)) return true;
    }
    // MAX_TOKENS=512 is a setting; API_TOKENS=abc is not.
    const bool number =
        !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (ends_with(word, "TOKENS") && !number) return true;
  }
  return false;
}

std::string secret_in(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    const std::string value = equals == std::string::npos ? next : word.substr(equals + 1);
    if (starts_with(word, "-") && flag_names_a_secret(name, value)) return name;
    if (equals != std::string::npos && !value.empty() && is_variable(name) &&
        names_a_secret(name, value))
      return name;
    if (starts_with(word, "-") && equals != std::string::npos)  // --env=HF_TOKEN=v
      if (const std::string inner = secret_in({value}); !inner.empty()) return inner;
    if (const std::string token = token_in(word); !token.empty()) return token;
  }
  return "";
}

std::string mask_tokens(const std::string& text) {
  static const std::regex kToken(std::string("\\b") + kTokenStarts + "[A-Za-z0-9_-]{8,}");
  return std::regex_replace(text, kToken, "$1***");
}

std::map<std::string, std::string> clean_environment() {
  std::map<std::string, std::string> clean;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    // Without .pyc files a Python engine compiles itself anew at every boot.
    if (name == "PYTHONDONTWRITEBYTECODE" || names_a_secret(name, value)) continue;
    clean.emplace(name, value);
  }
  return clean;
}

}  // namespace hyperloom

// names_a_secret, and clean_environment of os/child.h.
#include "os/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "os/child.h"

namespace hyperloom {
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

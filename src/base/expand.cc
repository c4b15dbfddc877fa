#include "base/expand.h"

#include "base/error.h"
#include "base/text.h"

namespace hyperloom {

std::string expand(std::string_view text, const Variables& variables) {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    const size_t open = text.find("${", at);
    if (open == std::string_view::npos) break;
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) {
      throw bad_input("unclosed ${ in `" + std::string(text) + "`", "close it with }");
    }
    const std::string name(text.substr(open + 2, close - open - 2));
    const auto found = variables.find(name);
    if (found == variables.end()) {
      std::vector<std::string> known;
      for (const auto& [key, value] : variables) known.push_back(key);
      throw bad_input(
          "unknown variable ${" + name + "} in `" + std::string(text) + "`" +
              did_you_mean(name, known),
          known.empty() ? "no variables are known here" : "known: " + join(known, ", "));
    }
    result += text.substr(at, open - at);
    result += found->second;
    at = close + 1;
  }
  result += text.substr(at);
  return result;
}

}  // namespace hyperloom

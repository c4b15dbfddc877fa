#include "candidate/user_flags.h"

#include <algorithm>

#include "base/text.h"

namespace hyperloom {
namespace {

bool spells(const Knob& knob, const std::string& argument) {
  return argument == knob.name ||
         std::find(knob.aliases.begin(), knob.aliases.end(), argument) != knob.aliases.end();
}

// How many arguments from `at` on belong to the knob: 0 = none, 1 = flag alone or --flag=value, 2 = flag and value.
size_t width(const Knob& knob, const std::vector<std::string>& argv, size_t at) {
  if (spells(knob, argv[at])) return knob.type != "bool" && at + 1 < argv.size() ? 2 : 1;
  const size_t equals = argv[at].find('=');
  return equals != std::string::npos && spells(knob, argv[at].substr(0, equals)) ? 1 : 0;
}

}  // namespace

std::optional<std::string> user_value(const Knob& knob, const std::vector<std::string>& argv) {
  std::optional<std::string> value;
  for (size_t at = 0; at < argv.size();) {
    const size_t count = width(knob, argv, at);
    const size_t equals = argv[at].find('=');
    if (count == 2) {
      value = argv[at + 1];
    } else if (count == 1 && equals != std::string::npos && !spells(knob, argv[at])) {
      value = argv[at].substr(equals + 1);
    } else if (count == 1) {
      value = "true";
    }
    at += std::max<size_t>(count, 1);
  }
  return value;
}

std::vector<std::string> without_flag(const Knob& knob, const std::vector<std::string>& argv) {
  std::vector<std::string> result;
  for (size_t at = 0; at < argv.size();) {
    const size_t count = width(knob, argv, at);
    if (count == 0) result.push_back(argv[at]);
    at += std::max<size_t>(count, 1);
  }
  return result;
}

}  // namespace hyperloom

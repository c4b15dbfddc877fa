// A user's own argv, seen knob by knob.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/pack.h"

namespace hyperloom {

// "--flag value", "--flag=value"; bool flags answer "true". The last one counts, as it does for the engines.
std::optional<std::string> user_value(const Knob& knob, const std::vector<std::string>& argv);

// argv without the knob's flag (any spelling) and its value.
std::vector<std::string> without_flag(const Knob& knob, const std::vector<std::string>& argv);

}  // namespace hyperloom

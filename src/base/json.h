// JSON for headers: the forward declaration only. Files that touch a Json include <nlohmann/json.hpp>.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hyperloom {
using Json = nlohmann::json;
}

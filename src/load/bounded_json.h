// JSON from a server, refused when it is nested too deep: comparing, copying or printing a parsed value recurses, and a few
// kilobytes of '[' would take our stack away.
#pragma once

#include <string_view>

#include "base/json.h"

namespace hyperloom {

inline constexpr int kDeepestJson = 200;   // answers of inference servers take 6

// As Json::parse without exceptions: discarded when it is no JSON, or deeper than that.
Json parse_bounded(std::string_view text);

}  // namespace hyperloom

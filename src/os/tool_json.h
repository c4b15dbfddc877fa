// JSON that a vendor's tool printed.
#pragma once

#include <string_view>

#include "base/json.h"

namespace hyperloom {

// Perhaps after lines of warnings; null when there is none.
Json parse_after_noise(std::string_view text);

}  // namespace hyperloom

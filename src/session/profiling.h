// One leg under the profiler, folded into kernel table and roofline.
#pragma once

#include <optional>

#include "session/rules.h"

namespace hyperloom {

// `of`: "stock" or "best". Nothing once its profile is known, or when it cannot be had.
std::optional<Step> profile_of(const Rules& rules, const SessionState& state, const std::string& of, const Candidate& candidate);

}  // namespace hyperloom

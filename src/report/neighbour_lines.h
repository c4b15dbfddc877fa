// What else ran on the machine, as the report tells it.
#pragma once

#include <string>
#include <vector>

#include "state/session_state.h"

namespace hyperloom {

// What the sentinel saw over all good legs, and past what a leg is void; nothing before a probe.
std::vector<std::string> neighbour_lines(const SessionState& state);
// One line a void leg: "L7 (pair): why". Those that a server's own failure voided are not among them.
std::vector<std::string> void_lines(const SessionState& state);

}  // namespace hyperloom

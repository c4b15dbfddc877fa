// The phases as pure functions: next(state) -> step. No clock, no machine, no randomness: the same journal gives
// the same step, so a crash at any entry changes no decision.
#pragma once

#include <optional>
#include <string>

#include "agent/roles.h"
#include "session/step.h"

namespace hyperloom {

struct Rules {
  const Pack& pack;
  const Roles& roles;
};

Step next(const Rules& rules, const SessionState& state);

// The phases' own parts; nothing = this part is finished.
std::optional<Step> enablement(const Rules& rules, const SessionState& state);
std::optional<Step> prelude(const Rules& rules, const SessionState& state);
std::optional<Step> trials(const Rules& rules, const SessionState& state);          // propose, screen, compare, keep or revert
std::optional<Step> sweep(const Rules& rules, const SessionState& state);
Step close(const Rules& rules, const SessionState& state);
std::string close_result(const SessionState& state);   // improved, no_gain, limits_unmet or not_enabled, from the fresh pairs

// A comparison under way, up to kept or reverted; nothing = concluded.
std::optional<Step> drive(const Rules& rules, const SessionState& state, const Comparison& comparison);
std::optional<Step> screen(const Rules& rules, const SessionState& state);

}  // namespace hyperloom

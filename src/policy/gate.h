// The policy gate: every intent passes it before anything is done for it, and the executor asks it again. A refusal
// names its rule, the offending value and a one-line mend (L6).
#pragma once

#include <optional>

#include "engine/pack.h"
#include "state/session_state.h"

namespace hyperloom {

std::optional<Refused> gate(const Pack& pack, const SessionState& state, const Intent& intent);

// The executor's own check before a launch, a build or a requantization: every change of the candidate is
// permitted by the workload and legal for this build, model and machine.
std::optional<Refused> check_candidate(const Pack& pack, const SessionState& state, const Candidate& candidate);

}  // namespace hyperloom

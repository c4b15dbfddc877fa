// Runs the quality checks of one comparison: KL of the candidate's own model, cache and attention settings against
// stock; greedy agreement and work done under the measured load, from the comparison's own legs.
#pragma once

#include <filesystem>

#include "state/session_state.h"

namespace hyperloom {

QualityReport check_quality(const Pack& pack, const SessionState& state, const Comparison& comparison,
                            const std::filesystem::path& session_dir, const volatile bool* stop_flag);

// Whether a change may alter the model's numbers; what may not has to give the same answers.
bool may_change_numerics(const Pack& pack, const Change& change);

// Stock's logits are some 400 MB and can be made again: they go when the session is closed.
void forget_base_logits(const std::filesystem::path& session_dir);

}  // namespace hyperloom

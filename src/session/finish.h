// Writes the report of a folded session and says how it ended.
#pragma once

#include <filesystem>

#include "engine/pack.h"
#include "state/session_state.h"

namespace hyperloom {

// Prints the result table, report and launch script paths. Returns the exit code: 0 closed, 3 not enabled, 4 interrupted.
int finish_session(const Pack& pack, const SessionState& state, const std::filesystem::path& session_dir, bool session_is_dead = true);

}  // namespace hyperloom

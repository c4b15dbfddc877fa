// Asks the kernel backend (a sandboxed child of ours) for claims and turns them into proposals.
#pragma once

#include <filesystem>

#include "session/world.h"

namespace hyperloom {

World::Proposed backend_proposals(const Pack& pack, const SessionState& state, const std::filesystem::path& session_dir,
                                  double limit_s, const volatile bool* stop_flag);

}  // namespace hyperloom

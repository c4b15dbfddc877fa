// The session's side of the knowledge base: its key, what to replay, what it leaves.
#pragma once

#include <filesystem>

#include "session/world.h"

namespace hyperloom {

World::Proposed recipe_proposals(const Pack& pack, const SessionState& state, const std::filesystem::path& file);
RecipeWritten store_recipe(const Pack& pack, const SessionState& state, const std::filesystem::path& file);

}  // namespace hyperloom

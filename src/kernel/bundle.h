// What a backend gets to read: task.json, hardware.json, toolchain.json, recipes.json,
// profile/kernels.json and manifest.json with the SHA-256 of each (docs/kernel-contract.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernel/backend.h"
#include "kernel/toolchain.h"

namespace hyperloom {

// The pack's `tune` recipes whose `when` does not exclude this machine. Conditions on the model or
// the traffic stay open here: the session knows those and judges.
std::vector<BuildRecipe> offered_recipes(const KernelTask& task);

// Programs that the recipes name as compilers (CMAKE_C_COMPILER=..., CC, CXX).
std::vector<std::string> compilers_of(const std::vector<BuildRecipe>& recipes);
std::vector<std::string> compilers_of(const BuildRecipe& recipe);

// Writes the bundle into a new folder and takes the write bits away. `deadline_unix_s` is absolute.
void write_bundle(const std::filesystem::path& folder, const KernelTask& task,
                  const BackendLimits& limits, double deadline_unix_s, const Toolchain& toolchain);

// A file of the bundle that differs from the manifest, is missing, or was added; "" = intact.
std::string bundle_damage(const std::filesystem::path& folder);

// Deletes a tree that a child may have made undeletable (mode bits, links); follows no link.
// Error(Internal) when it stays.
void remove_tree(const std::filesystem::path& folder);

void to_json(Json& json, const BuildRecipe& recipe);
void from_json(const Json& json, BuildRecipe& recipe);

}  // namespace hyperloom

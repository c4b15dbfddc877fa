// Reads what a backend left behind, believing nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/backend.h"

namespace hyperloom {

struct ResultRules {
  std::string task_id, nonce;        // must be echoed
  std::vector<std::string> recipes;  // ids that the bundle held
  std::string current_build;
  std::vector<std::string> failed_builds;
  int candidates = 64;
};

// result.json's text to an outcome: status bad_output when the whole breaks the contract; single
// claims that do are named in `rejected`.
BackendOutcome parse_result(std::string_view text, const ResultRules& rules);

// Looks over the whole of `out` first: links, devices, hard links or too much of anything make it
// bad_output.
BackendOutcome read_result(const std::filesystem::path& out, const ResultRules& rules,
                           const BackendLimits& limits);

// The first breach of the size, count and file-kind limits under `out`, or "". Safe while the child
// still writes.
std::string tree_breach(const std::filesystem::path& out, const BackendLimits& limits);

}  // namespace hyperloom

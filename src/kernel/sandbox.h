// How a child that we do not trust is launched: bubblewrap where it works, resource limits
// everywhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hyperloom {

struct SandboxSpec {
  std::filesystem::path writable;  // the only folder that it may change; empty = none
  std::vector<std::filesystem::path>
      readable;                       // shown even where the sandbox hides the place (/tmp, /run)
  std::filesystem::path errors;       // its stderr, appended; stdout stays the caller's
  double cpu_s = 60;                  // per process
  uint64_t file_bytes = 64ull << 20;  // per file
};

// Why bubblewrap cannot be used here, or "". Tried once a process.
const std::string& sandbox_problem();

// `argv` wrapped: no network, own pids, read-only system, private /tmp, no capabilities when
// `bubblewrap`; the limits of `spec` in both cases. Absolute paths among `argv` stay readable.
std::vector<std::string> sandboxed(const std::vector<std::string>& argv, const SandboxSpec& spec,
                                   bool bubblewrap);

}  // namespace hyperloom

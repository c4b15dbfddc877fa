// A kernel backend: a sandboxed child process that gets a read-only bundle and returns claims
// (docs/kernel-contract.md). Claims decide nothing (L1): the session builds, verifies and measures
// each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/pack.h"
#include "os/machine.h"
#include "profile/profile.h"

namespace hyperloom {

constexpr int kBackendProtocol = 1;  // the major version that we speak

struct KernelTask {
  std::string task_id, nonce, lane;  // lane: tune
  const Pack* pack = nullptr;
  MachineFacts machine;
  KernelTable kernels;                     // the incumbent's profile
  std::string current_build;               // recipe id
  std::vector<std::string> failed_builds;  // known not to work here
  double deadline_s = 60;                  // seconds the child has
};

struct KernelClaim {
  std::string id, kind;     // kind: build (recipe id of the pack) for now; others are refused
  std::string value;        // the recipe id
  double expected_log = 0;  // unverified
  std::string why;
};

struct BackendOutcome {
  std::vector<KernelClaim> claims;
  std::string status;  // candidates | no_candidate | infra_error | invalid_task | crashed | stalled
                       // | bad_output
  std::string reason;  // says so when there was no sandbox
  std::vector<std::string> rejected;  // claims that broke the contract, each with the rule
  double seconds = 0;
};

struct BackendLimits {
  double silence_s = 20;    // no event for so long = stalled
  double grace_s = 5;       // past the deadline, before it is killed
  double handshake_s = 10;  // for --capabilities
  uint64_t memory_bytes = 4ull << 30;
  uint64_t output_bytes = 64ull << 20;  // of stdout, of each file, and of all files together
  int entries = 4096;                   // files and folders that it may leave in out
  int candidates = 64;
  bool sandbox = true;  // false: resource limits only
};

// Runs `backend_argv + [bundle, out]`. A hang, a crash, a lie or rubbish costs one outcome and
// nothing else. `work_dir` is ours: `bundle` and `out` inside are replaced; events.jsonl and
// stderr.log stay for people.
BackendOutcome run_backend(const std::vector<std::string>& backend_argv, const KernelTask& task,
                           const std::filesystem::path& work_dir,
                           const volatile bool* stop_flag = nullptr,
                           const BackendLimits& limits = {});

// The built-in backend's main: reads bundle_dir, writes out_dir; returns the exit code of the
// contract.
int forge_main(const std::filesystem::path& bundle_dir, const std::filesystem::path& out_dir);
std::string forge_capabilities();  // JSON of --capabilities

}  // namespace hyperloom

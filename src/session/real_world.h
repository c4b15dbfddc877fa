// The world as it is: builds, servers, load, quality tools, recipes. One thread; long steps watch the stop flags.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "os/host_memory.h"
#include "os/machine.h"
#include "recipe/recipe_db.h"
#include "session/world.h"

namespace hyperloom {

// Set from signal handlers.
struct StopFlags {
  volatile bool stop = false;      // Ctrl-C, `hyperloom stop`
  volatile bool close = false;     // `hyperloom stop --close`
  volatile bool any = false;       // either: long steps end early
};

struct RealWorldSetup {
  const Pack& pack;
  std::filesystem::path session_dir;
  std::filesystem::path recipe_file;
  StopFlags& flags;
  std::function<void(const std::string&)> on_progress;   // one short line, often
};

std::unique_ptr<World> make_real_world(RealWorldSetup setup);

// Where a build's binaries lie; empty for the user's own command.
std::filesystem::path build_folder(const SessionState& state, const std::string& recipe);
// The model that a candidate loads: the workload's own, or its requantized weights.
std::filesystem::path model_of(const SessionState& state, const Candidate& candidate);
LaunchSpec launch_of(const Pack& pack, const SessionState& state, const Candidate& candidate, const std::string& build);

// What earlier legs taught of this host; under the cache folder.
HostMemory host_memory(const MachineFacts& machine);
// What noise depends on besides the host: model, engine, cores, traffic and objective of a workload.
std::string noise_key(const Workload& workload, const std::string& model_sha256);

RecipeKey recipe_key(const Pack& pack, const SessionState& state);

}  // namespace hyperloom

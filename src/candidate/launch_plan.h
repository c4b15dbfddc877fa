// From a candidate to what is executed: argv, environment, and what must be read back.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "candidate/candidate.h"
#include "engine/expression.h"
#include "engine/pack.h"
#include "engine/server.h"
#include "workload/workload.h"

namespace hyperloom {

// The user's own argv and env come first; a changed flag replaces the user's, in any of its spellings. `build` is the
// build folder (unused when the workload names its own engine.command), `model` the weights to serve, already
// requantized when the candidate says so. `facts`: gather_facts of the candidate, for companion flags. ${port} stays in
// argv, ${model} is filled in, also in the user's. Error(BadInput) when the pack has no such knob or the server cannot be named.
LaunchSpec plan_launch(const Pack& pack, const Workload& workload, const Candidate& candidate,
                       const std::filesystem::path& build, const std::filesystem::path& model, const Facts& facts);

// Error(BadInput) when the user's own --port or --host would lead the server away from where the launch line puts it and
// where it is asked: it would only be seen as a server that never gets ready.
void check_own_address(const Pack& pack, const Workload& workload);

// The candidate's settings that the pack's quality tool must share (kl_flags), as arguments; the user's own included.
std::vector<std::string> quality_flags(const Pack& pack, const Workload& workload, const Candidate& candidate);

// The launch argv of `--help`: pack.help_argv with ${server} resolved; empty when the pack has none.
std::vector<std::string> help_command(const Pack& pack, const Workload& workload, const std::filesystem::path& build);

}  // namespace hyperloom

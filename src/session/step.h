// What a session does next, as a value: either one journal entry that follows from the state, or one piece of work
// for the world. The rules return steps; the coordinator carries them out.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/json.h"
#include "state/session_state.h"

namespace hyperloom {

struct Emit { std::string type, id; std::shared_ptr<const Json> body; };
struct DoProbe {};
struct DoBuild { std::string recipe; double limit_s = 0; };       // "command": the user's own server is only asked for its flags
struct DoMake { Candidate candidate; double limit_s = 0; };      // one precision change, requantized
struct DoLeg { LegPlan plan; };
struct DoQuality { std::string comparison; };
struct DoRecipes {};                                             // look the knowledge base up
struct DoKernel { double limit_s = 0; };                         // ask the kernel backend
struct DoRecipeWrite {};
struct DoFinish {};                                              // nothing more to do: report and end

using Step = std::variant<Emit, DoProbe, DoBuild, DoMake, DoLeg, DoQuality, DoRecipes, DoKernel, DoRecipeWrite, DoFinish>;


}  // namespace hyperloom

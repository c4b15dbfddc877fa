// Which changes this model, machine, traffic and build allow. What is illegal is never launched.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "candidate/candidate.h"
#include "engine/expression.h"
#include "engine/pack.h"

namespace hyperloom {

// The knob's values that may be tried on top of `incumbent`, less the one in force. `facts`: gather_facts of the
// incumbent. `help_flags`: flags_in_help of the build that will run; empty = not known, then nothing is dropped for it.
// Not for knobs of kind build, see legal_builds.
std::vector<Change> legal_values(const Pack& pack, const Knob& knob, const Facts& facts,
                                 const std::set<std::string>& help_flags, const Candidate& incumbent);

// Why the candidate is illegal ("-np 7: forbidden by `...`"); empty = legal. For replays and other people's proposals.
std::string why_illegal(const Pack& pack, const Facts& facts, const std::set<std::string>& help_flags,
                        const Candidate& candidate);

// Build recipes of that role whose `when` holds, in the pack's order, as changes of the knob "build".
std::vector<Change> legal_builds(const Pack& pack, const Facts& facts, const std::string& role);

}  // namespace hyperloom

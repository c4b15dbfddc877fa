// Which leg a pair, a round or a ladder rung needs next.
#pragma once

#include <optional>

#include "session/step.h"

namespace hyperloom {

constexpr int kMostAttempts = 4;    // of one pair or slot, before it is given up as no evidence

DoLeg plan_leg(const SessionState& state, const std::string& purpose, const std::string& group, const std::string& arm,
               int pair, const Candidate& candidate);

// The build recipe that a candidate runs on.
std::string build_of(const SessionState& state, const Candidate& candidate);

// The build and the requantized weights that `candidate` still lacks; nothing when it can be launched.
std::optional<Step> prepare(const SessionState& state, const Candidate& candidate, double limit_s);
// Why it cannot be launched in this session: a failure of its own, or that the time for making it ran out.
struct Unprepared { bool evidence; std::string why; };
std::optional<Unprepared> cannot_prepare(const SessionState& state, const Candidate& candidate);

// The state of pair `pair` of `group`.
struct PairProgress {
  const LegRecord* a = nullptr;     // finished (good or failed), of the present attempt
  const LegRecord* b = nullptr;
  int attempt = 0;
  int spoiled = 0;                  // attempts that other load spoiled; our own interruptions are not counted (L8)
};

PairProgress pair_progress(const SessionState& state, const std::string& group, int pair);

// Next leg of a pair, A or B by the block's coin; nothing when both are finished.
std::optional<Step> next_pair_leg(const SessionState& state, const std::string& purpose, const std::string& group, int pair,
                                  const Candidate& a, const Candidate& b);
// pair.done for two good legs.
PairDone finished_pair(const SessionState& state, const std::string& group, int pair, const PairProgress& progress);

}  // namespace hyperloom

// What is worth trying next on top of the incumbent: the pack's legal moves in expert order.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/pack.h"
#include "state/session_state.h"

namespace hyperloom {

// model.* machine.* traffic.* knob.* as the incumbent stands.
Facts facts_of(const SessionState& state, const Pack& pack, const Candidate& candidate);

// Flags that the stock build's --help shows.
std::set<std::string> help_flags(const SessionState& state);

// Every legal change of one knob kind group ("framework": flag, env, precision) that differs from the incumbent,
// expert order. Kernel-phase builds are not among them: the backend proposes those.
std::vector<Change> legal_moves(const Pack& pack, const SessionState& state);

// Whether this very change was already judged on this very incumbent, or refused for quality or a crash for good
// (case j05: a refusal on quality is final). A pattern of the past is otherwise never a ban (L11).
bool settled(const SessionState& state, const Change& change);

// Known good moves that go to comparison without screening (L10: first proven gain within a quarter of the budget).
constexpr int kLeaderRank = 20;
bool is_leader(const Pack& pack, const SessionState& state, const Change& change);

}  // namespace hyperloom

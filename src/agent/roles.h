// The roles of a session. Each speaks typed intents from the folded state alone, so a built-in rule and a language
// model are interchangeable behind the same seam; each intent passes the gate before anything happens.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/pack.h"
#include "state/session_state.h"

namespace hyperloom {

class Planner {
 public:
  virtual ~Planner() = default;
  // The next change worth trying in the present phase; nothing = no more ideas.
  virtual std::optional<Intent> propose(const Pack& pack, const SessionState& state) const = 0;
  // Which waiting proposal to compare next; nothing = none is worth alpha.
  virtual std::optional<Intent> compare(const Pack& pack, const SessionState& state) const = 0;
};

class Critic {
 public:
  virtual ~Critic() = default;
  // Signs or vetoes a decided comparison, from the journal's raw legs alone.
  virtual CriticVerdict review(const Pack& pack, const SessionState& state, const Comparison& comparison) const = 0;
};

class Watchdog {
 public:
  virtual ~Watchdog() = default;
  // An alert or a stop when the session goes in circles, crashes on and on, or the host never gets quiet.
  virtual std::optional<Intent> watch(const SessionState& state) const = 0;
};

struct Roles {
  std::unique_ptr<Planner> planner;
  std::unique_ptr<Critic> critic;
  std::unique_ptr<Watchdog> watchdog;
};
Roles built_in_roles();

// The noise pool as it stood when `comparison` was decided (for the critic's recomputation).
NoisePool pool_before(const SessionState& state, const std::string& comparison);

// The plan that every comparison of this session follows.
TestPlan test_plan(const SessionState& state);

}  // namespace hyperloom

// The roles without a language model.
#pragma once

#include "agent/roles.h"

namespace hyperloom {

class BuiltInPlanner : public Planner {
 public:
  std::optional<Intent> propose(const Pack& pack, const SessionState& state) const override;
  std::optional<Intent> compare(const Pack& pack, const SessionState& state) const override;
};

class BuiltInCritic : public Critic {
 public:
  CriticVerdict review(const Pack& pack, const SessionState& state, const Comparison& comparison) const override;
};

class BuiltInWatchdog : public Watchdog {
 public:
  std::optional<Intent> watch(const SessionState& state) const override;
};

}  // namespace hyperloom

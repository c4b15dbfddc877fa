// The seam between rules and reality: every piece of work that takes time or touches the machine. RealWorld runs
// engines; tests script one with a virtual clock.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "session/step.h"

namespace hyperloom {

class World {
 public:
  virtual ~World() = default;
  virtual ProbeEvent probe(const SessionState& state) = 0;
  virtual BuildEvent build(const SessionState& state, const DoBuild& order) = 0;
  virtual MadeEvent make(const SessionState& state, const DoMake& order) = 0;
  // `on_started` is called once a server of ours runs, before anything is sent to it.
  virtual std::variant<LegDone, LegVoid> leg(const SessionState& state, const LegPlan& plan, const Server::OnStarted& on_started) = 0;
  virtual QualityReport quality(const SessionState& state, const Comparison& comparison) = 0;

  struct Proposed { std::vector<Intent> proposals; std::string notice; };
  virtual Proposed recipes(const SessionState& state) = 0;
  virtual Proposed kernel_backend(const SessionState& state, double limit_s) = 0;
  virtual RecipeWritten write_recipe(const SessionState& state) = 0;

  // "", "user_stop" or "user_close": asked between steps; long steps watch it themselves and end early.
  virtual std::string stop_request() = 0;
};

}  // namespace hyperloom

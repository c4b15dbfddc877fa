// emit(): an Emit step from any event type. For the .cc files of this room.
#pragma once

#include <nlohmann/json.hpp>

#include "session/step.h"

namespace hyperloom {

template <class Event>
Emit emit(const std::string& type, const std::string& id, const Event& event) {
  return {type, id, std::make_shared<const Json>(event)};
}

inline Emit enter_phase(const SessionState& s, const std::string& phase, const std::string& reason,
                        const std::string& evidence, int cycle = 0) {
  return emit("phase.entered", phase, PhaseEntered{phase, reason, cycle ? cycle : s.cycle, evidence});
}

}  // namespace hyperloom

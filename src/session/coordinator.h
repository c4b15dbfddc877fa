// Drives one session: state -> rules -> step -> world -> journal -> state, until there is nothing more to do. Owns the
// journal; single-threaded. What it appends is the session; everything else is a fold of it.
#pragma once

#include <functional>
#include <string>

#include "journal/journal.h"
#include "session/rules.h"
#include "session/world.h"

namespace hyperloom {

class Coordinator {
 public:
  // Told after each appended entry, and before each piece of work.
  struct Observer {
    std::function<void(const SessionState&, const Entry&)> on_entry;
    std::function<void(const SessionState&, const std::string& what)> on_work;
  };

  Coordinator(Journal& journal, World& world, const Rules& rules, Observer observer);

  // Opens a new session, or resumes what the journal holds: cleans up left-over servers, voids half pairs.
  void open(const std::string& session, const Workload& workload);
  void resume();

  // Until closed or stopped. Returns the final state. An Error of a step is journalled as session.stopped{fault} and
  // thrown on.
  const SessionState& run();
  const SessionState& state() const { return state_; }

 private:
  bool step();
  void work(const Step& step);
  void run_leg(const DoLeg& order);
  void append(const std::string& type, const std::string& id, Json body);

  Journal& journal_;
  World& world_;
  const Rules& rules_;
  Observer observer_;
  SessionState state_;
};

}  // namespace hyperloom

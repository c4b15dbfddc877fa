// Why a server did not come up, from its exit and its log: the deepest first fatal line that is no wrapper.
#pragma once

#include <optional>
#include <string>

#include "engine/pack.h"
#include "os/child.h"

namespace hyperloom {

struct Failure {
  std::string failure_class;     // illegal_instruction, missing_library, out_of_memory, port_in_use, foreign_server, never_ready,
                                 // bad_flag, bad_model, ignored_flag, crashed, unknown
  std::string id;                // pattern's id, or the class
  std::string line;              // the evidence, cleaned
  std::string rung;              // where the ladder should start: flags | patch | checkout | rebuild | none
  std::string first_move;
  std::string signature() const; // class + normalised line: progress = this changed
  std::string text() const;      // one line for people
};

// `phase`: launch | serving. `exit` empty = still running (never ready).
Failure classify(const Pack& pack, const std::string& phase, const std::optional<ExitStatus>& exit, const std::string& log);

}  // namespace hyperloom

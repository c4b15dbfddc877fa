// The conversations of a trace that are under way: what was said in each, and which turn comes next.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "load/request_trace.h"

namespace hyperloom {

struct Said { std::string user, answer; };

// Owner: the load generator. A trace without turns is one of conversations with one turn each.
class Talks {
 public:
  explicit Talks(const RequestTrace& trace) : trace_(trace) {}

  // The first place from `place` on that opens a conversation; past the end when there is none.
  size_t opening(size_t place) const;
  bool goes_on(size_t place) const;                       // another turn comes after this one
  int turn(size_t place) const;                           // from 1; 0 for a conversation of one
  const std::vector<Said>& before(size_t place) const;    // what was said before this turn
  // Share of the turn's text that was sent or said before; a prefix cache may have it.
  double shared(size_t place) const;

  void answered(size_t place, std::string answer);        // the turn after it may be asked
  size_t broken_off(size_t place);                        // the conversation ends here; how many turns are left unasked

 private:
  const RequestTrace& trace_;
  std::map<size_t, std::vector<Said>> said_;              // by place of the next turn
};

}  // namespace hyperloom

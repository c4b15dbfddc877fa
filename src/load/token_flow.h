// How much of each request's work fell inside the window.
#pragma once

#include <vector>

#include "load/tally.h"

namespace hyperloom {

class TokenFlow {
 public:
  TokenFlow(const std::vector<RequestFigures>& figures, const EdgeMarks& marks, double start_s, double end_s);

  // Tokens of the request at `place` that arrived inside, between two marks in proportion to time; 0 for requests that
  // failed or timed out.
  double output_inside(size_t place) const;
  // Prompt tokens, spread evenly from sending to the first token.
  double prompt_inside(size_t place) const;
  // Share of the request's life inside: a count of requests without the jumps of whole ones at the borders.
  double share_inside(size_t place) const;

 private:
  double overlap(double from, double to) const;   // share of [from, to] inside
  double tokens_at(size_t place, double at_s) const;

  const std::vector<RequestFigures>& figures_;
  const EdgeMarks& marks_;
  double start_s_, end_s_;
  double tokens_per_event_ = 1;   // for requests that ended before their usage came: what the completed ones had
};

}  // namespace hyperloom

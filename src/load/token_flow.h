// How much of each request's work fell inside the window.
#pragma once

#include <vector>

#include "load/request_record.h"

namespace hyperloom {

class TokenFlow {
 public:
  TokenFlow(const std::vector<RequestRecord>& records, double start_s, double end_s);

  // Tokens that arrived inside, between two marks in proportion to time; 0 for requests that failed or timed out.
  double output_inside(const RequestRecord& record) const;
  // Prompt tokens, spread evenly from sending to the first token.
  double prompt_inside(const RequestRecord& record) const;
  // Share of the request's life inside: a count of requests without the jumps of whole ones at the borders.
  double share_inside(const RequestRecord& record) const;

 private:
  double overlap(double from, double to) const;   // share of [from, to] inside
  double tokens_at(const RequestRecord& record, double at_s) const;

  double start_s_, end_s_;
  double tokens_per_event_ = 1;   // for requests that ended before their usage came: what the completed ones had
};

}  // namespace hyperloom

// What will be asked, decided before anything runs: the same seed gives the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load/synthetic_text.h"
#include "workload/workload.h"

namespace hyperloom {

struct PlannedRequest {
  std::string prompt;
  int max_tokens = 0;
  double at_s = 0;                 // open loop: intended send time from the start of the leg; closed loop: 0
  std::vector<TextBlock> blocks{}; // text that follows `prompt`, made when it is sent
  int prompt_tokens = 0;           // as long as it should be; 0 = not said
  bool follows = false;            // the next turn of the conversation of the request above it: due think_s after that answer
  double think_s = 0;
  double shared = 0;               // share of it that an earlier request began with, by intent: a prefix cache may have it
};
std::string prompt_text(const PlannedRequest& request);

struct RequestTrace {
  std::vector<PlannedRequest> requests;
  std::vector<std::string> notices;   // what of the dataset was left out
  std::string sha256;              // of the canonical bytes of all requests
};

// `tokens_per_word` corrects synthetic text by the server's own count (session probe). Dataset problems are
// Error(BadInput) with file and byte offset; a truncated ShareGPT file yields the whole conversations before the cut.
RequestTrace make_trace(const Traffic& traffic, uint64_t seed, int count, double tokens_per_word);

}  // namespace hyperloom

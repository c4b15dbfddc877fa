// Prompts from a user's file, sampled in one pass and never held whole.
//   *.txt or anything else  one prompt a line
//   first byte '{'          JSON lines: {"prompt": "...", "output_tokens": 128} (the count is optional)
//   first byte '['          ShareGPT: [{"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", ...}]}]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hyperloom {

struct DatasetPrompt {
  std::string prompt;
  int output_tokens = 0;            // said by the file, or a quarter of the recorded answer's characters; 0 = unknown
};

// At most `count` prompts, an even sample of the whole file in shuffled order; fewer when the file has fewer.
// Error(BadInput) with file and byte offset when it is malformed, or has no prompt at all. A ShareGPT file
// whose end is missing (a broken download) gives the whole conversations before the cut.
std::vector<DatasetPrompt> sample_dataset(const std::string& file, uint64_t seed, int count);

}  // namespace hyperloom

// Prompts from a user's file, sampled in one pass and never held whole.
//   *.txt or anything else  one prompt a line
//   first byte '{'          JSON lines: {"prompt": "...", "output_tokens": 128} (the count is optional), or a conversation each:
//                           {"messages": [{"role": "user", "content": "..."}, ...]}, also named as below
//   first byte '['          ShareGPT: [{"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", ...}]}]
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace hyperloom {

struct DatasetTurn {
  std::string text;
  int output_tokens = 0;
};

struct DatasetPrompt {
  std::string prompt;
  int output_tokens = 0;            // said by the file, or a quarter of the recorded answer's characters; 0 = unknown
  std::vector<DatasetTurn> later{}; // what the human said next in the same conversation
};

struct DatasetSample {
  std::vector<DatasetPrompt> prompts;
  std::string notice;               // what was wrong with the file and left out, with byte offset and mend; usually empty
};

// At most `count` prompts, an even sample of the whole file in shuffled order; fewer when the file has fewer. Of conversations the
// first `most_turns` human turns. Error(BadInput) with file and byte offset when it is malformed, or has no prompt at all. A ShareGPT
// file whose end is missing (a broken download) gives the whole conversations before the cut, and a notice.
DatasetSample sample_dataset(const std::string& file, uint64_t seed, int count, int most_turns = 1);
// The same from a stream; `file` is its name for messages and its form (*.txt).
DatasetSample sample_dataset(std::istream& in, const std::string& file, uint64_t seed, int count, int most_turns = 1);

}  // namespace hyperloom

// A ShareGPT file as a stream: one conversation in memory at a time.
#pragma once

#include <functional>
#include <istream>
#include <string>

#include "base/json.h"
#include "load/dataset.h"

namespace hyperloom {

constexpr size_t kLongestConversation = size_t{64} << 20;

struct ShareGptEnd {
  size_t conversations = 0;                // whole ones, with a human turn or without
  size_t bytes = 0;                        // read
  bool cut = false;                        // the file ended before its array did
  size_t whole_until = 0;                  // where the last whole conversation ended
  size_t longest = 0;                      // bytes of the longest conversation: as much of the file as was ever held
};

// Calls `on_prompt` with the human turns (`most_turns` at most) of each whole conversation that has one. A file that ends too
// early is read up to its cut; a malformed one, or a conversation beyond `longest` bytes, is an Error(BadInput) with
// file and byte offset.
ShareGptEnd read_sharegpt(std::istream& in, const std::string& file, int most_turns, const std::function<void(DatasetPrompt)>& on_prompt,
                          size_t longest = kLongestConversation);

// The same of one conversation, the value of "conversations" or "messages"; without a human turn its prompt is empty.
DatasetPrompt conversation_from(const Json& turns, int most_turns);

}  // namespace hyperloom

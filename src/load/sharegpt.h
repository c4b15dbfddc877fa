// A ShareGPT file as a stream: one conversation in memory at a time.
#pragma once

#include <functional>
#include <istream>
#include <string>

#include "load/dataset.h"

namespace hyperloom {

// Calls `on_prompt` with the first human turn of each whole conversation that has one. A file that ends too early
// is read up to its cut; a malformed one is an Error(BadInput) with file and byte offset.
void read_sharegpt(std::istream& in, const std::string& file,
                   const std::function<void(DatasetPrompt)>& on_prompt);

}  // namespace hyperloom

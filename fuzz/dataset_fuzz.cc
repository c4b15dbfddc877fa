// Any bytes: a sample of prompts with text, the same for the same seed, or an Error that names file and mend. The first byte
// chooses the file's name and how much is asked for.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "load/dataset.h"

using namespace hyperloom;

namespace {

DatasetSample sample(const std::string& bytes, uint8_t options) {
  std::istringstream in(bytes);
  return sample_dataset(in, options & 1 ? "fuzz.txt" : "fuzz", 1, 1 + (options >> 1) % 8, 1 + (options >> 4));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint8_t options = data[0];
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const DatasetSample one = sample(bytes, options), two = sample(bytes, options);
    if (one.prompts.empty() || one.prompts.size() > 8u || one.prompts.size() != two.prompts.size()) std::abort();
    for (size_t i = 0; i < one.prompts.size(); ++i) {
      const DatasetPrompt& prompt = one.prompts[i];
      if (prompt.prompt.empty() || prompt.output_tokens < 0 || prompt.later.size() > 15u || prompt.prompt != two.prompts[i].prompt) std::abort();
      for (const DatasetTurn& turn : prompt.later)
        if (turn.text.empty() || turn.output_tokens < 0) std::abort();
    }
  } catch (const Error& error) {
    if (std::string(error.what()).find("fuzz") == std::string::npos || error.mend().empty()) std::abort();
  }
  return 0;
}

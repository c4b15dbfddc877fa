// Any bytes: entries in order, each with lengths that can be asked for, or an Error that names file and mend.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "workload/trace_file.h"

using namespace hyperloom;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  double last_s = 0;
  size_t entries = 0;
  try {
    read_trace(in, "fuzz", [&](TraceEntry& entry) {
      const size_t blocks = static_cast<size_t>(entry.prompt_tokens + kTraceBlockTokens - 1) / kTraceBlockTokens;
      const bool sane = entry.at_s >= last_s && entry.prompt_tokens >= 1 && entry.output_tokens >= 1 && entry.hash_ids.size() <= blocks;
      if (!sane || (entries == 0 && entry.at_s != 0)) std::abort();
      last_s = entry.at_s;
      ++entries;
      return true;
    });
    if (entries == 0) std::abort();
  } catch (const Error& error) {
    if (std::string(error.what()).find("fuzz") == std::string::npos || error.mend().empty()) std::abort();
  }
  return 0;
}

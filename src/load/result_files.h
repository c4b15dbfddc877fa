// What a load run leaves behind for people and for other tools.
#pragma once

#include <string>

#include "base/json.h"
#include "load/generator.h"

namespace hyperloom {

// One JSON object a request a line, each with its newline.
std::string records_jsonl(const std::vector<RequestRecord>& records);

// A table for a terminal (columns padded) and one for Markdown; both end with the warnings.
std::string terminal_table(const LoadSummary& summary);
std::string markdown_table(const LoadSummary& summary);

// The fields and units of `vllm bench serve --save-result --save-detailed`, so that readers of those files read ours.
// `wall` is the RFC 3339 time of the run, `backend` the engine's name.
Json vllm_result(const LoadSpec& spec, const LoadResult& result, const std::string& backend,
                 const std::string& wall);

}  // namespace hyperloom

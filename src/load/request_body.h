// What goes over the wire for one planned request.
#pragma once

#include <string>

#include "load/generator.h"

namespace hyperloom {

// The endpoint below a base URL given with or without "/v1" and slashes at its end.
std::string endpoint_url(const std::string& base_url, Traffic::Api api);

// Streaming, with usage asked for; only fields that every OpenAI-compatible server takes, and ignore_eos, which vLLM,
// SGLang and llama.cpp know.
std::string request_body(const LoadSpec& spec, const PlannedRequest& planned);

}  // namespace hyperloom

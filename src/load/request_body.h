// What goes over the wire for one planned request.
#pragma once

#include <string>

#include "load/generator.h"
#include "load/talks.h"

namespace hyperloom {

// The endpoint below a base URL given with or without "/v1" and slashes at its end.
std::string endpoint_url(const std::string& base_url, Traffic::Api api);

// Streaming, with usage asked for; only fields that every OpenAI-compatible server takes, and ignore_eos, which vLLM,
// SGLang and llama.cpp know.
// `before`: the earlier turns of its conversation, which go along, each with the answer that it got.
std::string request_body(const LoadSpec& spec, const PlannedRequest& planned, const std::vector<Said>& before = {});

}  // namespace hyperloom

// The first request to a server that somebody else runs: does it answer this API, and how many tokens is a word to it?
#pragma once

#include "load/generator.h"
#include "net/http.h"

namespace hyperloom {

struct ServerCheck {
  std::string model;              // what to send: the given name, or the first that the server lists
  double tokens_per_word = 0;     // 0 = not known, make_trace assumes one
};

// A request for `path` at the server's root (without "/v1"), with the headers and certificates of `spec`.
HttpRequest request_to(const LoadSpec& spec, const std::string& path);

// One request in the shape of `spec.traffic`, with few tokens. Error(BadInput) when the server is not there or refuses,
// Error(Interrupted) when the stop flag was set. `flag` names the URL's argument in messages.
ServerCheck check_server(const LoadSpec& spec, const std::string& flag, const volatile bool* stop_flag);

}  // namespace hyperloom

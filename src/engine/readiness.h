// One real completion from a server: the only proof that it serves.
#pragma once

#include <string>

#include "engine/pack.h"
#include "net/http.h"

namespace hyperloom {

struct Probe {
  bool ready = false;
  bool refused = false;        // an answer that waiting will not change (HTTP 4xx but "not yet" ones)
  std::string words;           // what was seen, for the failure's line
};

HttpRequest completion_request(const std::string& url, const std::string& api, const std::string& model, double timeout_s);
Probe judge_completion(const Pack& pack, const HttpResponse& response);
// The id of the first model that GET /v1/models lists, "default" when it lists none.
std::string listed_model(const std::string& url);
std::string listed_model(HttpRequest server);    // its url is the base URL; headers and certificates as given

}  // namespace hyperloom

#include "load/request_body.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace hyperloom {

std::string endpoint_url(const std::string& base_url, Traffic::Api api) {
  std::string url = base_url;
  while (ends_with(url, "/")) url.pop_back();
  if (!ends_with(url, "/v1")) url += "/v1";
  return url + (api == Traffic::Api::Chat ? "/chat/completions" : "/completions");
}

std::string request_body(const LoadSpec& spec, const PlannedRequest& planned, const std::vector<Said>& before) {
  Json body = {{"model", spec.model},
               {"max_tokens", planned.max_tokens},
               {"stream", spec.stream}};
  if (spec.stream) body["stream_options"] = {{"include_usage", true}};
  if (spec.traffic.api == Traffic::Api::Chat) {
    Json& messages = body["messages"] = Json::array();
    for (const Said& said : before) {
      messages.push_back({{"role", "user"}, {"content", said.user}});
      messages.push_back({{"role", "assistant"}, {"content", said.answer}});
    }
    messages.push_back({{"role", "user"}, {"content", prompt_text(planned)}});
  } else {
    std::string text;
    for (const Said& said : before) text += said.user + "\n" + said.answer + "\n";
    body["prompt"] = text + prompt_text(planned);
  }
  if (spec.temperature_zero) {
    body["temperature"] = 0;
    body["seed"] = spec.traffic.seed & 0x7fffffff;   // engines take 31 to 64 bits
  }
  if (spec.traffic.ignore_eos) body["ignore_eos"] = true;
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);   // a dataset may hold broken UTF-8
}

}  // namespace hyperloom

#include "engine/readiness.h"

#include <nlohmann/json.hpp>
#include <regex>

#include "base/json.h"
#include "base/text.h"

namespace hyperloom {
namespace {

std::string text_in(const Json& choice, const char* container, const char* field) {
  const Json& from = *container != '\0' && choice.contains(container) ? choice[container] : choice;
  if (!from.is_object() || !from.contains(field) || !from[field].is_string()) return "";
  return from[field].get<std::string>();
}

}  // namespace

HttpRequest completion_request(const std::string& url, const std::string& api, const std::string& model, double timeout_s) {
  Json body = {{"model", model}, {"max_tokens", 8}, {"temperature", 0}, {"stream", false}};
  const std::string prompt = "The capital of France is";
  if (api == "chat") {
    body["messages"] = Json::array({{{"role", "user"}, {"content", prompt}}});
  } else {
    body["prompt"] = prompt;
  }
  const std::string path = api == "chat" ? "/v1/chat/completions" : "/v1/completions";
  return {.method = "POST", .url = url + path, .body = body.dump(), .headers = {"Content-Type: application/json"},
          .timeout_s = timeout_s};
}

Probe judge_completion(const Pack& pack, const HttpResponse& response) {
  if (response.status == 0) return {false, false, "completion: " + response.error};
  const std::string head = trim(response.body.substr(0, 200));
  if (!response.ok()) {
    const int status = response.status;
    const bool refused = status >= 400 && status < 500 && status != 404 && status != 408 && status != 425 && status != 429;
    return {false, refused, "completion: HTTP " + std::to_string(status) + " " + head};
  }
  const Json json = Json::parse(response.body, nullptr, false);
  if (!json.is_object() || !json.contains("choices") || !json["choices"].is_array() || json["choices"].empty()) {
    return {false, false, "completion: HTTP 200 without choices: " + head};
  }
  const Json& choice = json["choices"][0];
  std::string text = text_in(choice, "message", "content") + text_in(choice, "", "text") +
                     text_in(choice, "message", "reasoning_content") + text_in(choice, "message", "reasoning");
  if (trim(text).empty()) return {false, false, "completion: HTTP 200 without text: " + head};
  if (!pack.ready_expect.empty() && !std::regex_search(text.substr(0, 500), std::regex(pack.ready_expect))) {
    return {false, true, "completion: `" + text.substr(0, 100) + "` does not match `" + pack.ready_expect + "`"};
  }
  return {true, false, text.substr(0, 100)};
}

std::string listed_model(const std::string& url) { return listed_model(HttpRequest{.url = url}); }

std::string listed_model(HttpRequest server) {
  server.url += "/v1/models";
  server.timeout_s = 5;
  const HttpResponse response = http_call(server);
  const Json json = Json::parse(response.body, nullptr, false);
  if (!response.ok() || !json.is_object() || !json.contains("data") || !json["data"].is_array()) return "default";
  for (const Json& model : json["data"]) {
    if (model.is_object() && model.contains("id") && model["id"].is_string()) return model["id"].get<std::string>();
  }
  return "default";
}

}  // namespace hyperloom

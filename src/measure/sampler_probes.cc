#include "measure/sampler_probes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "load/request_body.h"
#include "net/http.h"
#include "os/event_loop.h"

namespace hyperloom {
namespace {

constexpr int kShort = 4, kTokens = 16;
constexpr int kRepeats = 4;
constexpr double kMostWait_s = 20;   // a server that ignores max_tokens may go on for ever
const char* const kOpen = "The strangest thing that I saw that day was";   // many ways to go on

struct Said { std::string text; int tokens = -1; };

class Probes {
 public:
  Probes(const std::string& base_url, const std::string& model, double limit_s) : model_(model), url_(endpoint_url(base_url, Traffic::Api::Completions)), until_s_(EventLoop::now_s() + limit_s) {}

  // Nothing when no answer could be read.
  std::optional<Said> ask(const Json& settings) {
    Json body = {{"model", model_}, {"prompt", kOpen}, {"max_tokens", kTokens}, {"stream", false}};
    body.update(settings);
    HttpRequest request{.method = "POST", .url = url_, .body = body.dump(), .headers = {"Content-Type: application/json"}};
    request.timeout_s = std::min(kMostWait_s, until_s_ - EventLoop::now_s());
    if (request.timeout_s <= 0) return {};
    const HttpResponse response = http_call(request);
    const Json answer = response.ok() ? Json::parse(response.body, nullptr, false) : Json();
    if (!answer.is_object() || !answer.contains("choices") || !answer["choices"].is_array() || answer["choices"].empty()) return {};
    const Json& choice = answer["choices"][0];
    if (!choice.is_object() || !choice.contains("text") || !choice["text"].is_string()) return {};
    Said said{choice["text"].get<std::string>()};
    if (answer.contains("usage") && answer["usage"].is_object() && answer["usage"].contains("completion_tokens") &&
        answer["usage"]["completion_tokens"].is_number_integer())
      said.tokens = answer["usage"]["completion_tokens"].get<int>();
    return said;
  }

  // How many different answers `kRepeats` requests got; 0 when one failed.
  size_t different(double temperature, bool same_seed) {
    std::set<std::string> texts;
    for (int i = 0; i < kRepeats; i++) {
      const auto said = ask({{"temperature", temperature}, {"seed", same_seed ? 7 : 7 + i}});
      if (!said) return 0;
      texts.insert(said->text);
    }
    return texts.size();
  }

 private:
  const std::string model_, url_;
  const double until_s_;
};

}  // namespace

// A prompt cache moves last digits, so one flip among four answers is no proof of anything.
std::set<std::string> ignored_settings(const std::string& base_url, const std::string& model, double limit_s) {
  Probes probes(base_url, model, limit_s);
  std::set<std::string> ignored;
  const auto brief = probes.ask({{"temperature", 0}, {"max_tokens", kShort}});
  if (brief && brief->tokens > kShort) ignored.insert("max_tokens");
  const auto counted = probes.ask({{"temperature", 0}, {"prompt", "1, 2, 3, 4, 5,"}, {"stop", Json::array({" 8"})}});
  if (counted && counted->text.find(" 8") != std::string::npos) ignored.insert("stop");
  if (probes.different(0, false) > 2) ignored.insert("temperature");   // greedy is greedy
  if (probes.different(1.5, false) == 1) ignored.insert("temperature");
  if (probes.different(1.0, true) > 2) ignored.insert("seed");
  return ignored;
}

}  // namespace hyperloom

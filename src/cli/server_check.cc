#include "cli/server_check.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "engine/readiness.h"

namespace hyperloom {
namespace {

constexpr double kAnswerLimit_s = 300;    // a first request may compile for minutes
constexpr double kConnectLimit_s = 10;
constexpr int kFewTokens = 4, kCheckTokens = 128;
constexpr double kAssumedTokensPerWord = 1.3;

std::string advice(const RequestRecord& record, const LoadSpec& spec) {
  const bool chat = spec.traffic.api == Traffic::Api::Chat;
  switch (record.http_status) {
    case 401:
    case 403: return "give the key with --api-key-env NAME, the variable that holds it";
    case 404: return std::string("check --model and --api; the other API is ") + (chat ? "completions" : "chat");
    case 400:
    case 422: return "read the server's words above; --stop-at-eos leaves ignore_eos at work only on the server";
    case 503: return "the server is not ready: wait until it has loaded its model";
    default: return "look at the server's log";
  }
}

}  // namespace

HttpRequest request_to(const LoadSpec& spec, const std::string& path) {
  std::string root = spec.url;
  while (ends_with(root, "/")) root.pop_back();
  if (ends_with(root, "/v1")) root.resize(root.size() - 3);
  return {.url = root + path, .headers = spec.headers, .ca_file = spec.ca_file, .insecure = spec.insecure};
}

ServerCheck check_server(const LoadSpec& given, const std::string& flag, const volatile bool* stop_flag) {
  LoadSpec spec = given;
  HttpRequest health = request_to(spec, "/health");
  health.timeout_s = kConnectLimit_s;
  const HttpResponse there = http_call(health);
  if (there.status == 0)
    throw bad_input(flag + " " + spec.url + " cannot be reached: " + there.error, "start the server, or check host and port");
  ServerCheck check;
  if (spec.model == "default") spec.model = listed_model(request_to(spec, ""));
  check.model = spec.model;

  if (spec.traffic.kind == Traffic::Kind::Trace) spec.traffic.prompt_tokens = {kCheckTokens, 0};   // a recorded prompt may be very long
  spec.traffic.kind = Traffic::Kind::Closed;
  spec.traffic.clients = 1;
  spec.traffic.output_tokens = {kFewTokens, 0};
  spec.warmup_requests = 0;
  spec.request_timeout_s = kAnswerLimit_s;
  spec.time_limit_s = 0;
  const double assumed = spec.traffic.dataset.empty() ? kAssumedTokensPerWord : 0;
  const LoadResult result = run_load(spec, make_trace(spec.traffic, spec.traffic.seed ^ 0xc4ec, 1, assumed), {}, stop_flag);
  if (result.stopped) throw Error(ErrorKind::Interrupted, "stopped before anything was measured");
  const RequestRecord& record = result.records.at(0);
  if (record.state != RequestState::Completed) {
    const std::string words = trim(record.fail_text).substr(0, 300);
    throw bad_input(flag + " " + spec.url + " does not answer a request: " + record.fail_kind + (words.empty() ? "" : ": " + words),
                    advice(record, spec));
  }
  if (assumed > 0 && record.prompt_tokens > 0)
    check.tokens_per_word = std::clamp(assumed * record.prompt_tokens / spec.traffic.prompt_tokens.mean, 0.7, 6.0);
  return check;
}

}  // namespace hyperloom

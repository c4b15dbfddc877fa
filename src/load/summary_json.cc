#include <nlohmann/json.hpp>

#include "load/metrics.h"

namespace hyperloom {

namespace {

Json percentiles_json(const Percentiles& p) {
  if (p.count == 0) return Json{{"count", 0}};   // absent, never 0
  return {{"mean", p.mean}, {"p50", p.p50}, {"p90", p.p90}, {"p95", p.p95}, {"p99", p.p99}, {"count", p.count}};
}

Percentiles percentiles_from(const Json& json, const char* name) {
  Percentiles p;
  const Json& from = json.at(name);
  p.mean = from.value("mean", 0.0);
  p.p50 = from.value("p50", 0.0);
  p.p90 = from.value("p90", 0.0);
  p.p95 = from.value("p95", 0.0);
  p.p99 = from.value("p99", 0.0);
  p.count = from.value("count", 0);
  return p;
}

}  // namespace

void to_json(Json& json, const LoadSummary& s) {
  json = {{"window_s", s.window_s},
          {"completed", s.completed},
          {"failed", s.failed},
          {"timed_out", s.timed_out},
          {"cut_off", s.cut_off},
          {"output_tok_s", s.output_tok_s},
          {"total_tok_s", s.total_tok_s},
          {"requests_s", s.requests_s},
          {"goodput_rps", s.goodput_rps},
          {"output_tokens", s.output_tokens},
          {"prompt_tokens", s.prompt_tokens},
          {"ttft_ms", percentiles_json(s.ttft_ms)},
          {"tpot_ms", percentiles_json(s.tpot_ms)},
          {"itl_ms", percentiles_json(s.itl_ms)},
          {"e2e_ms", percentiles_json(s.e2e_ms)},
          {"send_lateness_ms", percentiles_json(s.send_lateness_ms)},
          {"censored", s.censored},
          {"usage_missing", s.usage_missing},
          {"odd_usage", s.odd_usage},
          {"retries", s.retries},
          {"cached_prompt_share", s.cached_prompt_share},
          {"shared_prompt_share", s.shared_prompt_share},
          {"read_wait_ms", percentiles_json(s.read_wait_ms)},
          {"finish", s.finish},
          {"mean_output_tokens", s.mean_output_tokens},
          {"mean_prompt_tokens", s.mean_prompt_tokens},
          {"repetition", s.repetition},
          {"empty", s.empty},
          {"fail_kinds", s.fail_kinds},
          {"warnings", s.warnings}};
  if (s.tokens_per_asked > 0) json["tokens_per_asked"] = s.tokens_per_asked;
}

void from_json(const Json& json, LoadSummary& s) {
  s.window_s = json.at("window_s").get<double>();
  s.completed = json.at("completed").get<int>();
  s.failed = json.at("failed").get<int>();
  s.timed_out = json.at("timed_out").get<int>();
  s.cut_off = json.at("cut_off").get<int>();
  s.output_tok_s = json.at("output_tok_s").get<double>();
  s.total_tok_s = json.at("total_tok_s").get<double>();
  s.requests_s = json.at("requests_s").get<double>();
  s.goodput_rps = json.at("goodput_rps").get<double>();
  s.output_tokens = json.at("output_tokens").get<double>();
  s.prompt_tokens = json.at("prompt_tokens").get<double>();
  s.ttft_ms = percentiles_from(json, "ttft_ms");
  s.tpot_ms = percentiles_from(json, "tpot_ms");
  s.itl_ms = percentiles_from(json, "itl_ms");
  s.e2e_ms = percentiles_from(json, "e2e_ms");
  s.send_lateness_ms = percentiles_from(json, "send_lateness_ms");
  s.censored = json.at("censored").get<bool>();
  s.usage_missing = json.at("usage_missing").get<bool>();
  s.odd_usage = json.value("odd_usage", 0);   // these six are younger than the first journals
  s.retries = json.value("retries", 0);
  s.cached_prompt_share = json.value("cached_prompt_share", 0.0);
  s.shared_prompt_share = json.value("shared_prompt_share", 0.0);
  s.tokens_per_asked = json.value("tokens_per_asked", 0.0);
  if (json.contains("read_wait_ms")) s.read_wait_ms = percentiles_from(json, "read_wait_ms");
  s.finish = json.at("finish").get<std::map<std::string, int>>();
  s.mean_output_tokens = json.at("mean_output_tokens").get<double>();
  s.mean_prompt_tokens = json.value("mean_prompt_tokens", 0.0);
  s.repetition = json.at("repetition").get<double>();
  s.empty = json.at("empty").get<double>();
  s.fail_kinds = json.at("fail_kinds").get<std::map<std::string, int>>();
  s.warnings = json.at("warnings").get<std::vector<std::string>>();
}

}  // namespace hyperloom

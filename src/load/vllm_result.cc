#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "load/result_files.h"
#include "stats/quantile.h"

namespace hyperloom {

namespace {

// "2026-12-01T13:30:05.123Z" -> "20261201-133005", vLLM's form.
std::string compact_date(const std::string& wall) {
  std::string digits;
  std::copy_if(wall.begin(), wall.end(), std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  return digits.size() < 14 ? wall : digits.substr(0, 8) + "-" + digits.substr(8, 6);
}

void add_latency(Json& json, const std::string& name, const std::vector<double>& seconds) {
  std::vector<double> ms = seconds;
  for (double& value : ms) value *= 1e3;
  json["mean_" + name + "_ms"] = mean(ms);
  json["median_" + name + "_ms"] = percentile(ms, 50);
  json["std_" + name + "_ms"] = sample_sd(ms);
  for (const int p : {50, 90, 95, 99}) {
    json["p" + std::to_string(p) + "_" + name + "_ms"] = percentile(ms, p);
  }
}

// The most requests that were in flight at one moment, and the most tokens that came within one second of the run.
struct Peaks { int requests = 0; double tokens_s = 0; };

Peaks peaks_of(const std::vector<RequestRecord>& records, double start_s) {
  std::vector<std::pair<double, int>> edges;
  std::map<long, double> tokens;
  for (const RequestRecord& r : records) {
    if (r.end_s <= 0) continue;
    edges.insert(edges.end(), {{r.sent_s, 1}, {r.end_s, -1}});
    int before = 0;
    for (const TokenMark& mark : r.marks) {
      tokens[static_cast<long>(std::floor(mark.at_s - start_s))] += mark.tokens - before;
      before = mark.tokens;
    }
  }
  std::sort(edges.begin(), edges.end());               // at the same moment those that end come first
  Peaks peaks;
  int now = 0;
  for (const auto& [at, step] : edges) peaks.requests = std::max(peaks.requests, now += step);
  for (const auto& [second, count] : tokens) peaks.tokens_s = std::max(peaks.tokens_s, count);
  return peaks;
}

double burstiness(const Traffic& traffic) {
  if (traffic.arrival.process == Arrival::Process::Constant) return 1e9;   // the limit: gaps without spread
  return traffic.arrival.burstiness;
}

}  // namespace

Json vllm_result(const LoadSpec& spec, const LoadResult& result, const std::string& backend,
                 const std::string& wall) {
  const LoadSummary& s = result.summary;
  std::vector<double> ttft, tpot, itl, e2e;
  std::vector<int> input_lens, output_lens;
  Json ttfts = Json::array(), itls = Json::array(), texts = Json::array(), errors = Json::array(),
       start_times = Json::array(), latencies = Json::array(), queue_times = Json::array();
  int completed = 0, planned = 0;
  for (const RequestRecord& r : result.records) {
    if (r.intended_s < result.window_start_s || r.intended_s > result.window_end_s) continue;
    ++planned;
    const bool ok = r.state == RequestState::Completed;
    const std::vector<double> gaps = r.itl_s();
    input_lens.push_back(std::max(0, r.prompt_tokens));
    output_lens.push_back(ok ? r.tokens() : 0);
    ttfts.push_back(std::max(0.0, r.ttft_s()));
    itls.push_back(gaps);
    texts.push_back(r.text);
    errors.push_back(ok ? "" : r.fail_kind + ": " + r.fail_text);
    start_times.push_back(r.sent_s);
    latencies.push_back(ok ? std::max(0.0, r.e2e_s()) : 0.0);
    queue_times.push_back(std::max(0.0, r.sent_s - r.intended_s));   // ours is in the latencies already
    if (!ok) continue;
    ++completed;
    if (r.ttft_s() >= 0) ttft.push_back(r.ttft_s());
    if (r.tpot_s() >= 0) tpot.push_back(r.tpot_s());
    e2e.push_back(r.e2e_s());
    itl.insert(itl.end(), gaps.begin(), gaps.end());
  }
  const Peaks peaks = peaks_of(result.records, result.window_start_s);
  Json json = {{"date", compact_date(wall)},
               {"endpoint_type", spec.traffic.api == Traffic::Api::Chat ? "openai-chat" : "openai"},
               {"backend", backend},
               {"label", nullptr},
               {"model_id", spec.model},
               {"tokenizer_id", spec.model},
               {"num_prompts", planned},
               {"burstiness", burstiness(spec.traffic)},
               {"duration", s.window_s},
               {"completed", completed},
               {"failed", planned - completed},
               {"total_input_tokens", std::llround(s.prompt_tokens)},   // inside the window, as the rates are
               {"total_output_tokens", std::llround(s.output_tokens)},
               {"request_throughput", s.requests_s},
               {"request_goodput", spec.limits.empty() ? Json(nullptr) : Json(s.goodput_rps)},
               {"output_throughput", s.output_tok_s},
               {"total_token_throughput", s.total_tok_s},
               {"input_lens", input_lens},
               {"output_lens", output_lens},
               {"ttfts", std::move(ttfts)},
               {"itls", std::move(itls)},
               {"latencies", std::move(latencies)},
               {"start_times", std::move(start_times)},
               {"queue_times", std::move(queue_times)},
               {"max_output_tokens_per_s", peaks.tokens_s},
               {"max_concurrent_requests", peaks.requests},
               {"rtfx", 0.0},                          // of audio
               {"generated_texts", std::move(texts)},
               {"errors", std::move(errors)}};
  if (spec.traffic.kind == Traffic::Kind::Closed) {
    json["request_rate"] = "inf";   // vLLM's word for "as fast as max_concurrency lets"
    json["max_concurrency"] = spec.traffic.clients;
  } else {
    const Arrival& arrival = spec.traffic.arrival;
    json["request_rate"] = spec.traffic.rate_rps > 0 ? Json(spec.traffic.rate_rps) : Json("inf");
    json["max_concurrency"] = arrival.max_in_flight > 0 ? Json(arrival.max_in_flight) : Json(nullptr);
    if (!arrival.ramp_up.empty()) {
      json["ramp_up_strategy"] = arrival.ramp_up;
      json["ramp_up_start_rps"] = arrival.ramp_from_rps;
      json["ramp_up_end_rps"] = spec.traffic.rate_rps;
    }
  }
  add_latency(json, "ttft", ttft);
  add_latency(json, "tpot", tpot);
  add_latency(json, "itl", itl);
  add_latency(json, "e2el", e2e);
  return json;
}

}  // namespace hyperloom

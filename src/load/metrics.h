// A run's figures from its records. Throughput counts tokens that arrived inside the window, of requests that did
// not fail; percentiles are nearest rank (ITL: within 0.1 %) and censored when requests were cut off.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/log_histogram.h"
#include "load/request_record.h"
#include "workload/workload.h"

namespace hyperloom {

struct Percentiles { double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0; int count = 0; };
Percentiles percentiles_ms(const LogHistogram& seconds);

struct LoadSummary {
  double window_s = 0;
  int completed = 0, failed = 0, timed_out = 0, cut_off = 0;
  double output_tok_s = 0, total_tok_s = 0, requests_s = 0, goodput_rps = 0;   // goodput: completed within all limits
  double output_tokens = 0, prompt_tokens = 0;
  Percentiles ttft_ms, tpot_ms, itl_ms, e2e_ms, send_lateness_ms;
  bool censored = false;
  bool usage_missing = false;                  // tokens are event counts: an estimate
  int odd_usage = 0;                           // answers whose usage ran backwards, was negative or absurd
  int retries = 0;                             // requests sent again because a kept-alive connection had been closed
  double cached_prompt_share = 0;              // prompt tokens that the server says it took from its cache
  double shared_prompt_share = 0;              // prompt tokens that the traffic itself repeats: a cache may have those
  double tokens_per_asked = 0;                 // prompt tokens by usage for each that was asked for, warm-up too; 0 = not known
  Percentiles read_wait_ms;                    // how long received bytes lay unread in our process, at most
  std::map<std::string, int> finish;           // reason -> count
  double mean_output_tokens = 0, mean_prompt_tokens = 0;   // of completed requests, by the server's count
  double repetition = 0;                       // share of completed answers that repeat themselves
  double empty = 0;                            // share of completed answers without text
  std::map<std::string, int> fail_kinds;
  std::vector<std::string> warnings;           // cold first wave, client was the bottleneck, too short
};
void to_json(Json& json, const LoadSummary& summary);
void from_json(const Json& json, LoadSummary& summary);

LoadSummary summarise(const std::vector<RequestRecord>& records, double window_start_s, double window_end_s, const std::vector<Limit>& limits);
// The objective's value, always "more is better": latencies are returned as 1000/ms.
double objective_value(const LoadSummary& summary, const Objective& objective);
std::string objective_unit(const Objective& objective);
// The figure that a limit names, in ms; < 0 when absent.
double limit_value_ms(const LoadSummary& summary, const Limit& limit);
bool looks_repetitive(const std::string& text);

}  // namespace hyperloom

#include "load/metrics.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "load/token_flow.h"
#include "stats/quantile.h"

namespace hyperloom {

namespace {

Percentiles percentiles_ms(const std::vector<double>& seconds) {
  Percentiles result;
  result.count = static_cast<int>(seconds.size());
  if (seconds.empty()) return result;
  result.mean = mean(seconds) * 1e3;
  result.p50 = percentile(seconds, 50) * 1e3;
  result.p90 = percentile(seconds, 90) * 1e3;
  result.p95 = percentile(seconds, 95) * 1e3;
  result.p99 = percentile(seconds, 99) * 1e3;
  return result;
}

std::string number(double value) {
  const double scaled = std::round(value * 100) / 100;
  std::string text = std::to_string(scaled);
  text.erase(text.find_last_not_of('0') + 1);
  if (ends_with(text, ".")) text.pop_back();
  return text;
}

// What a request alone shows of a limit's metric, in seconds; nothing to hold against it when < 0.
double own_value_s(const RequestRecord& record, const Limit& limit) {
  if (limit.metric == "ttft") return record.ttft_s();
  if (limit.metric == "tpot") return record.tpot_s();
  if (limit.metric == "e2e") return record.e2e_s();
  const std::vector<double> gaps = record.itl_s();
  return gaps.empty() ? -1 : percentile(gaps, limit.percentile);
}

bool within(const RequestRecord& record, const std::vector<Limit>& limits) {
  return std::all_of(limits.begin(), limits.end(), [&](const Limit& limit) {
    return own_value_s(record, limit) * 1e3 <= limit.max_ms;
  });
}

// The requests sent before anything had ended, against the rest (case b07: a cold compile in the first wave).
void warn_of_cold_wave(const std::vector<const RequestRecord*>& sample, LoadSummary& summary) {
  constexpr double kColdRatio = 5;
  constexpr size_t kLeastRest = 5;
  double first_end = 0;
  for (const RequestRecord* r : sample) {
    if (r->end_s > 0 && (first_end == 0 || r->end_s < first_end)) first_end = r->end_s;
  }
  std::vector<double> wave, rest;
  for (const RequestRecord* r : sample) {
    if (r->ttft_s() >= 0) (r->intended_s < first_end ? wave : rest).push_back(r->ttft_s());
  }
  if (wave.empty() || rest.size() < kLeastRest) return;
  const double cold = percentile(wave, 50), warm = percentile(rest, 50);
  if (cold < kColdRatio * warm) return;
  summary.warnings.push_back("cold first wave: the first " + std::to_string(wave.size()) +
                             " requests had a median TTFT of " + number(cold * 1e3) + " ms, the others " +
                             number(warm * 1e3) + " ms: warm up with the same shapes first");
}

void warn(const std::vector<const RequestRecord*>& sample, LoadSummary& summary) {
  warn_of_cold_wave(sample, summary);
  if (summary.send_lateness_ms.p99 > std::max(10.0, 0.2 * summary.ttft_ms.p50)) {
    summary.warnings.push_back("client was the bottleneck: requests left " +
                               number(summary.send_lateness_ms.p99) + " ms late (p99)");
  }
  if (summary.completed > 0 && summary.window_s < 2e-3 * summary.e2e_ms.p50) {
    summary.warnings.push_back("too short: the window of " + number(summary.window_s) +
                               " s holds fewer than two request lifetimes");
  }
  if (summary.censored) {
    summary.warnings.push_back("percentiles are censored: " + std::to_string(summary.cut_off) +
                               " requests were cut off and " + std::to_string(summary.timed_out) +
                               " timed out, and those are the longest ones");
  }
  if (summary.usage_missing) {
    summary.warnings.push_back("the server sent no usage: tokens are event counts, an estimate");
  }
}

// Percentiles over the completed requests among those that were due inside the window.
void summarise_sample(const std::vector<const RequestRecord*>& sample, LoadSummary& summary) {
  std::vector<double> ttft, tpot, itl, e2e, lateness;
  auto add = [](std::vector<double>& values, double value) {
    if (value >= 0) values.push_back(value);
  };
  for (const RequestRecord* r : sample) {
    lateness.push_back(std::max(0.0, r->sent_s - r->intended_s));
    if (r->state == RequestState::CutOff || r->state == RequestState::TimedOut) summary.censored = true;
    if (r->state != RequestState::Completed) continue;
    add(ttft, r->ttft_s());
    add(tpot, r->tpot_s());
    add(e2e, r->e2e_s());
    const std::vector<double> gaps = r->itl_s();
    itl.insert(itl.end(), gaps.begin(), gaps.end());
  }
  summary.ttft_ms = percentiles_ms(ttft);
  summary.tpot_ms = percentiles_ms(tpot);
  summary.itl_ms = percentiles_ms(itl);
  summary.e2e_ms = percentiles_ms(e2e);
  summary.send_lateness_ms = percentiles_ms(lateness);
}

// The work done: every answer that was completed since the window opened, whenever it was asked for.
void summarise_answers(const std::vector<const RequestRecord*>& answers, LoadSummary& summary) {
  double tokens = 0, prompts = 0;
  int repetitive = 0, empty = 0, with_prompt = 0;
  for (const RequestRecord* r : answers) {
    tokens += r->tokens();
    if (r->prompt_tokens > 0) prompts += r->prompt_tokens, ++with_prompt;
    ++summary.finish[r->finish_reason.empty() ? "none" : r->finish_reason];
    repetitive += looks_repetitive(r->text.empty() ? r->reasoning : r->text);
    empty += trim(r->text).empty() && r->finish_reason != "tool_calls";
  }
  if (answers.empty()) return;
  const double count = static_cast<double>(answers.size());
  summary.mean_output_tokens = tokens / count;
  if (with_prompt > 0) summary.mean_prompt_tokens = prompts / with_prompt;
  summary.repetition = repetitive / count;
  summary.empty = empty / count;
}

}  // namespace

LoadSummary summarise(const std::vector<RequestRecord>& records, double window_start_s, double window_end_s,
                      const std::vector<Limit>& limits) {
  LoadSummary summary;
  summary.window_s = std::max(0.0, window_end_s - window_start_s);
  const TokenFlow flow(records, window_start_s, window_end_s);
  double requests = 0, good = 0;
  std::vector<const RequestRecord*> sample, answers;
  int failed_before = 0;
  for (const RequestRecord& r : records) {
    if (r.intended_s >= window_start_s && r.intended_s <= window_end_s) sample.push_back(&r);
    const bool before = r.end_s > 0 && r.end_s < window_start_s;
    if (r.state == RequestState::Failed || r.state == RequestState::TimedOut) failed_before += before;
    if (before) continue;
    switch (r.state) {
      case RequestState::Completed: ++summary.completed; break;
      case RequestState::Failed: ++summary.failed; break;
      case RequestState::TimedOut: ++summary.timed_out; break;
      case RequestState::CutOff: ++summary.cut_off; break;
    }
    if (!r.fail_kind.empty()) ++summary.fail_kinds[r.fail_kind];
    summary.output_tokens += flow.output_inside(r);
    summary.prompt_tokens += flow.prompt_inside(r);
    if (r.state != RequestState::Completed) continue;
    answers.push_back(&r);
    summary.usage_missing |= r.output_tokens < 0;
    requests += flow.share_inside(r);
    if (within(r, limits)) good += flow.share_inside(r);
  }
  if (summary.window_s > 0) {
    summary.output_tok_s = summary.output_tokens / summary.window_s;
    summary.total_tok_s = (summary.output_tokens + summary.prompt_tokens) / summary.window_s;
    summary.requests_s = requests / summary.window_s;
    summary.goodput_rps = good / summary.window_s;
  }
  summarise_sample(sample, summary);
  summarise_answers(answers, summary);
  // A request that was cut off counts by the answer that it had inside the window.
  if (summary.mean_output_tokens > 0 && summary.window_s > 0)
    for (const RequestRecord& r : records)
      if (r.state == RequestState::CutOff) summary.requests_s += flow.output_inside(r) / summary.mean_output_tokens / summary.window_s;
  warn(sample, summary);
  if (failed_before > 0) {
    summary.warnings.push_back(std::to_string(failed_before) + " warm-up requests failed");
  }
  return summary;
}

double limit_value_ms(const LoadSummary& summary, const Limit& limit) {
  const Percentiles* p = limit.metric == "ttft"   ? &summary.ttft_ms
                         : limit.metric == "tpot" ? &summary.tpot_ms
                         : limit.metric == "itl"  ? &summary.itl_ms
                         : limit.metric == "e2e"  ? &summary.e2e_ms
                                                  : nullptr;
  if (!p || p->count == 0) return -1;
  // The nearest figure that is not below the one asked for.
  if (limit.percentile <= 50) return p->p50;
  if (limit.percentile <= 90) return p->p90;
  if (limit.percentile <= 95) return p->p95;
  return limit.percentile <= 99 ? p->p99 : -1;
}

double objective_value(const LoadSummary& summary, const Objective& objective) {
  const std::string& what = objective.maximize;
  if (what == "output_tok_s") return summary.output_tok_s;
  if (what == "total_tok_s") return summary.total_tok_s;
  if (what == "requests_s") return summary.requests_s;
  const double ms = limit_value_ms(summary, {what, 50, 0});
  return ms > 0 ? 1000 / ms : 0;
}

std::string objective_unit(const Objective& objective) {
  const std::string& what = objective.maximize;
  if (what == "output_tok_s" || what == "total_tok_s") return "tok/s";
  return what == "requests_s" ? "req/s" : "1/s";
}

}  // namespace hyperloom

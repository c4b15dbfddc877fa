#include "load/metrics.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "base/text.h"
#include "load/tally.h"
#include "load/token_flow.h"
#include "stats/quantile.h"

namespace hyperloom {

namespace {

constexpr double kCachedShareTold = 0.05;

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

using Sample = std::vector<const RequestFigures*>;

// The requests sent before anything had ended, against the rest (case b07: a cold compile in the first wave).
void warn_of_cold_wave(const Sample& sample, LoadSummary& summary) {
  constexpr double kColdRatio = 5;
  constexpr size_t kLeastRest = 5;
  double first_end = 0;
  for (const RequestFigures* f : sample) {
    if (f->end_s > 0 && (first_end == 0 || f->end_s < first_end)) first_end = f->end_s;
  }
  std::vector<double> wave, rest;
  for (const RequestFigures* f : sample) {
    if (f->ttft_s() >= 0) (f->intended_s < first_end ? wave : rest).push_back(f->ttft_s());
  }
  if (wave.empty() || rest.size() < kLeastRest) return;
  const double cold = percentile(wave, 50), warm = percentile(rest, 50);
  if (cold < kColdRatio * warm) return;
  summary.warnings.push_back("cold first wave: the first " + std::to_string(wave.size()) +
                             " requests had a median TTFT of " + number(cold * 1e3) + " ms, the others " +
                             number(warm * 1e3) + " ms: warm up with the same shapes first");
}

void warn(const Sample& sample, LoadSummary& summary) {
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
  if (summary.odd_usage > 0) {
    summary.warnings.push_back("the server's token counts ran backwards, were negative or absurd in " +
                               std::to_string(summary.odd_usage) + " answers: rates by tokens are doubtful");
  }
  if (summary.cached_prompt_share > summary.shared_prompt_share + kCachedShareTold) {
    const std::string meant = summary.shared_prompt_share > 0 ? " (this traffic repeats " + number(100 * summary.shared_prompt_share) + " %)" : "";
    summary.warnings.push_back("prefix cache: the server took " + number(100 * summary.cached_prompt_share) +
                               " % of the prompt tokens from its cache" + meant +
                               ": TTFT and throughput are better than for fresh prompts");
  }
  if (summary.retries > 0) {
    summary.warnings.push_back(std::to_string(summary.retries) + " requests were sent again on a fresh connection: the server had "
                               "closed an idle one as they went out; the time lost is in their latencies");
  }
}

// Percentiles over the completed requests among those that were due inside the window.
void summarise_sample(const Sample& sample, LoadSummary& summary) {
  std::vector<double> values;
  values.reserve(sample.size());
  auto of_completed = [&](double (RequestFigures::*seconds)() const) {
    values.clear();
    for (const RequestFigures* f : sample)
      if (const double value = (f->*seconds)(); f->state == RequestState::Completed && value >= 0) values.push_back(value);
    return percentiles_ms(values);
  };
  summary.ttft_ms = of_completed(&RequestFigures::ttft_s);
  summary.tpot_ms = of_completed(&RequestFigures::tpot_s);
  summary.e2e_ms = of_completed(&RequestFigures::e2e_s);
  values.clear();
  for (const RequestFigures* f : sample) {
    values.push_back(std::max(0.0, f->sent_s - f->free_s));
    if (f->state == RequestState::CutOff || f->state == RequestState::TimedOut) summary.censored = true;
  }
  summary.send_lateness_ms = percentiles_ms(values);
}

}  // namespace

Percentiles percentiles_ms(const LogHistogram& seconds) {
  Percentiles result;
  result.count = static_cast<int>(std::min<uint64_t>(seconds.count(), INT_MAX));
  result.mean = seconds.mean() * 1e3;
  result.p50 = seconds.percentile(50) * 1e3;
  result.p90 = seconds.percentile(90) * 1e3;
  result.p95 = seconds.percentile(95) * 1e3;
  result.p99 = seconds.percentile(99) * 1e3;
  return result;
}

LoadSummary LoadTally::summary(double window_start_s, double window_end_s) const {
  LoadSummary summary;
  summary.window_s = std::max(0.0, window_end_s - window_start_s);
  const TokenFlow flow(figures_, marks_, window_start_s, window_end_s);
  Sample sample;
  double requests = 0, good = 0, cut_tokens = 0, tokens = 0, prompts = 0;
  int failed_before = 0, with_prompt = 0, answers = 0;
  for (size_t i = 0; i < figures_.size(); ++i) {
    const RequestFigures& f = figures_[i];
    if (f.intended_s >= window_start_s && f.intended_s <= window_end_s) sample.push_back(&f);
    const bool before = f.end_s > 0 && f.end_s < window_start_s;
    if (f.state == RequestState::Failed || f.state == RequestState::TimedOut) failed_before += before;
    if (f.state == RequestState::CutOff) cut_tokens += flow.output_inside(i);
    if (before) continue;
    switch (f.state) {
      case RequestState::Completed: ++summary.completed; break;
      case RequestState::Failed: ++summary.failed; break;
      case RequestState::TimedOut: ++summary.timed_out; break;
      case RequestState::CutOff: ++summary.cut_off; break;
    }
    if (f.fail_kind > 0) ++summary.fail_kinds[names_[f.fail_kind]];
    summary.output_tokens += flow.output_inside(i);
    summary.prompt_tokens += flow.prompt_inside(i);
    if (f.state != RequestState::Completed) continue;
    // The work done: every answer that was completed since the window opened, whenever it was asked for.
    ++answers;
    tokens += f.tokens();
    if (f.prompt_tokens > 0) prompts += f.prompt_tokens, ++with_prompt;
    ++summary.finish[f.finish == 0 ? "none" : names_[f.finish]];
    summary.repetition += f.repetitive;
    summary.empty += f.empty;
    summary.usage_missing |= f.output_tokens < 0;
    requests += flow.share_inside(i);
    if (f.within_limits) good += flow.share_inside(i);
  }
  if (answers > 0) {
    summary.mean_output_tokens = tokens / answers;
    if (with_prompt > 0) summary.mean_prompt_tokens = prompts / with_prompt;
    summary.repetition /= answers;
    summary.empty /= answers;
  }
  if (summary.window_s > 0) {
    // A request that was cut off counts by the answer that it had inside the window.
    if (summary.mean_output_tokens > 0) requests += cut_tokens / summary.mean_output_tokens;
    summary.output_tok_s = summary.output_tokens / summary.window_s;
    summary.total_tok_s = (summary.output_tokens + summary.prompt_tokens) / summary.window_s;
    summary.requests_s = requests / summary.window_s;
    summary.goodput_rps = good / summary.window_s;
  }
  summarise_sample(sample, summary);
  summary.itl_ms = percentiles_ms(itl_s_);
  summary.retries = retries_;
  summary.odd_usage = odd_usage_;
  if (shared_of_ > 0) summary.shared_prompt_share = shared_tokens_ / shared_of_;
  if (asked_tokens_ > 0) summary.tokens_per_asked = tokens_for_asked_ / asked_tokens_;
  if (cached_of_ > 0) summary.cached_prompt_share = cached_tokens_ / cached_of_;
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

#include "load/generator.h"

#include <algorithm>

#include "base/error.h"
#include "load/descriptors.h"
#include "load/load_run.h"

namespace hyperloom {
namespace {

constexpr double kTickSeconds = 0.05;
constexpr double kProgressSeconds = 0.5;

}  // namespace

LoadResult LoadRun::run() {
  const ThreadCost before = thread_cost();
  tally_.reserve(trace_.requests.size());
  if (!closed_) most_in_flight_ = connections_possible(0);
  loop_.after(0, [this] { begin(); });
  loop_.after(kTickSeconds, [this] { tick(); });
  loop_.run();
  const ThreadCost after = thread_cost();
  LoadResult done = result();
  done.client_cpu_s = after.cpu_s - before.cpu_s;
  warn(done, {after.cpu_s - before.cpu_s, after.waited_s - before.waited_s});
  return done;
}

void LoadRun::tick() {
  const double now = EventLoop::now_s();
  if (!closed_) note_load(now);
  stopped_ = stop_flag_ && *stop_flag_;
  if (stopped_ || (spec_.time_limit_s > 0 && now - begun_s_ >= spec_.time_limit_s)) return cut_off_all();
  if (progress_ && now - last_progress_s_ >= kProgressSeconds) report_progress(now);
  loop_.after(kTickSeconds, [this] { tick(); });
}

// Requests in flight, and those that are due and held back.
void LoadRun::note_load(double now) {
  while (due_ < trace_.requests.size() && begun_s_ + trace_.requests[due_].at_s <= now) ++due_;
  in_flight_over_time_.push_back({now, static_cast<double>(in_flight_) + static_cast<double>(due_ - std::min(due_, next_) + held_turns_.size())});
}

void LoadRun::report_progress(double now) {
  last_progress_s_ = now;
  LoadProgress progress;
  progress.elapsed_s = now - begun_s_;
  progress.done = done_;
  progress.total = static_cast<int>(trace_.requests.size());
  double tokens = tally_.tokens();
  for (const auto& [index, flight] : flights_) tokens += flight.record.tokens();
  progress.output_tok_s = tokens / progress.elapsed_s;
  progress_(progress);
}

LoadResult LoadRun::result() {
  LoadResult result;
  std::sort(records_.begin(), records_.end(), [](const RequestRecord& a, const RequestRecord& b) { return a.id < b.id; });
  result.records = std::move(records_);
  result.first_failure = std::move(first_failure_);
  result.window_end_s = closed_s_.value_or(EventLoop::now_s());
  result.window_start_s = std::min(opened_s_.value_or(result.window_end_s), result.window_end_s);
  result.summary = tally_.summary(result.window_start_s, result.window_end_s);
  result.summary.read_wait_ms = percentiles_ms(http_.read_wait_s());
  result.loop_delay_ms = loop_.worst_delay_s() * 1e3;
  result.answered_prompt_tokens = tally_.answered_prompt_tokens();
  result.itl_s = tally_.itl_s();
  result.limit_counts = tally_.limit_counts();
  result.stopped = stopped_;
  return result;
}

void LoadRun::warn(LoadResult& result, ThreadCost spent) const {
  std::vector<std::string>& warnings = result.summary.warnings;
  const ClientHealth health{EventLoop::now_s() - begun_s_, spent.cpu_s, spent.waited_s, result.loop_delay_ms};
  for (std::string& warning : client_warnings(health, result.summary)) warnings.push_back(std::move(warning));
  if (!closed_) {
    std::vector<TimedValue> ttft;
    for (const RequestFigures& f : tally_.figures())
      if (f.ttft_s() >= 0) ttft.push_back({f.intended_s, f.ttft_s()});
    const std::string said = saturation_warning(in_flight_over_time_, ttft, result.window_start_s, result.window_end_s);
    result.saturated = !said.empty();
    if (result.saturated) warnings.push_back(said);
  }
  result.out_of_connections = out_of_connections_;
  if (out_of_connections_) {
    warnings.push_back("client was the bottleneck: stopped sending with " + std::to_string(most_in_flight_) +
                       " requests in flight, as many as this process may open files (`ulimit -n`)");
  }
  if (unasked_ > 0) {
    warnings.push_back(std::to_string(unasked_) + " turns were not asked, because an earlier one of their conversation had no answer");
  }
  if (hopeless_) {
    warnings.push_back("gave up early: " + std::to_string(failures_in_a_row_) + " requests failed in a row");
  }
  warnings.insert(warnings.end(), trace_.notices.begin(), trace_.notices.end());
  if (result.summary.window_s <= 0 || only_drain_) {
    warnings.push_back("too short: no time at full load after warm-up; ask for more requests");
  }
}

namespace {

void check(const LoadSpec& spec, const RequestTrace& trace) {
  const std::string count = std::to_string(trace.requests.size());
  if (trace.requests.empty()) throw bad_input("the request trace is empty", "ask for at least 1 request");
  if (spec.warmup_requests < 0 || static_cast<size_t>(spec.warmup_requests) >= trace.requests.size()) {
    throw bad_input(std::to_string(spec.warmup_requests) + " warm-up requests of a trace of " + count,
                    "the trace must hold more requests than warm-up takes");
  }
  if (spec.traffic.kind == Traffic::Kind::Closed && spec.traffic.clients < 1) {
    throw bad_input("traffic.clients is " + std::to_string(spec.traffic.clients), "state clients: 1 or more");
  }
  if (spec.traffic.kind == Traffic::Kind::Closed) require_connections(spec.traffic.clients, "clients");
}

}  // namespace

LoadResult run_load(const LoadSpec& spec, const RequestTrace& trace,
                    const std::function<void(const LoadProgress&)>& progress,
                    const volatile bool* stop_flag) {
  check(spec, trace);
  LoadRun run(spec, trace, progress, stop_flag);
  return run.run();
}

}  // namespace hyperloom

#include "load/generator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "load/client_health.h"
#include "load/descriptors.h"
#include "load/request_body.h"
#include "load/saturation.h"
#include "load/tally.h"
#include "net/http.h"
#include "os/event_loop.h"

namespace hyperloom {

namespace {

constexpr double kTickSeconds = 0.05;
constexpr double kProgressSeconds = 0.5;
constexpr int kHopeless = 20;   // so many failures in a row past `clients`: the server is gone

// One run over one server. Everything happens on the thread that calls run().
class LoadRun {
 public:
  LoadRun(const LoadSpec& spec, const RequestTrace& trace,
          const std::function<void(const LoadProgress&)>& progress, const volatile bool* stop_flag)
      : spec_(spec), trace_(trace), progress_(progress), stop_flag_(stop_flag), http_(loop_),
        url_(endpoint_url(spec.url, spec.traffic.api)), closed_(spec.traffic.kind == Traffic::Kind::Closed),
        bound_(spec.traffic.arrival.max_in_flight),
        tally_(spec.limits), warming_(spec.warmup_requests) {}

  LoadResult run();

 private:
  struct Flight {
    RequestRecord record;
    std::unique_ptr<StreamFold> fold;
    HttpClient::Call call = 0;
    std::optional<EventLoop::TimerId> timeout;
  };

  void begin();
  void fill();                                // closed loop: keeps all clients busy
  void send_due();                            // open loop: whatever is due now, then a timer for the next
  void send(double intended_s, double free_s);
  void end(size_t index);                     // a flight has landed, whatever its state
  void refuse(Flight& flight, size_t index, double now);   // reads no further
  void abort(Flight& flight, RequestState state, const std::string& kind, double now);
  void count(Flight& flight);                 // into the figures, and the record where it is kept
  void cut_off_all();
  void stop_sending() { all_sent_ = true; }
  void close_window(double now);
  void tick();
  void note_load(double now);
  void report_progress(double now);
  LoadResult result();
  void warn(LoadResult& result, ThreadCost spent) const;

  const LoadSpec& spec_;
  const RequestTrace& trace_;
  const std::function<void(const LoadProgress&)>& progress_;
  const volatile bool* stop_flag_;
  EventLoop loop_;
  HttpClient http_;
  const std::string url_;
  const bool closed_;
  const int bound_;                           // open loop: so many in flight, who is due beyond waits; 0 = none
  std::map<size_t, Flight> flights_;          // in the air, by place in the trace; folds point into them
  std::vector<RequestRecord> records_;        // of those that landed
  RequestRecord first_failure_{.id = -1};
  LoadTally tally_;
  size_t next_ = 0, due_ = 0;                 // places in the trace: the next to send, the next to fall due
  bool held_ = false;                         // the next is due, and waits for another to end
  double released_s_ = 0;                     // when the bound last let one go
  std::vector<TimedValue> in_flight_over_time_;
  int most_in_flight_ = 0;                    // open loop: so many connections can be open
  int in_flight_ = 0, done_ = 0, warming_ = 0, failures_in_a_row_ = 0;
  double begun_s_ = 0, last_progress_s_ = 0;
  std::optional<double> opened_s_, closed_s_;
  bool all_sent_ = false, hopeless_ = false, stopped_ = false, out_of_connections_ = false;
  bool only_drain_ = false;
};

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

void LoadRun::begin() {
  begun_s_ = last_progress_s_ = EventLoop::now_s();
  if (closed_) {
    if (warming_ == 0) opened_s_ = begun_s_;
    fill();
  } else {
    const std::vector<PlannedRequest>& requests = trace_.requests;
    opened_s_ = begun_s_ + requests[static_cast<size_t>(spec_.warmup_requests)].at_s;
    send_due();
  }
}

void LoadRun::fill() {
  while (!all_sent_ && in_flight_ < spec_.traffic.clients) send(EventLoop::now_s(), 0);
  if (in_flight_ < spec_.traffic.clients) close_window(EventLoop::now_s());
}

void LoadRun::send_due() {
  while (!all_sent_) {
    const double due = begun_s_ + trace_.requests[next_].at_s;
    const double wait = due - EventLoop::now_s();
    if (wait > 0) {
      loop_.after(wait, [this] { send_due(); });
      return;
    }
    if (bound_ > 0 && in_flight_ >= bound_) {
      held_ = true;
      return;
    }
    held_ = false;
    const double free = std::max(due, released_s_);
    send(due, free);
    if (all_sent_) close_window(free);
  }
}

void LoadRun::send(double intended_s, double free_s) {
  if (!closed_ && in_flight_ >= most_in_flight_) {
    out_of_connections_ = true;
    return stop_sending();
  }
  const size_t index = next_++;
  if (next_ == trace_.requests.size()) stop_sending();
  const PlannedRequest& planned = trace_.requests[index];
  Flight& flight = flights_[index];
  flight.record.id = static_cast<int>(index);
  flight.record.intended_s = intended_s;
  flight.record.asked_tokens = planned.prompt_tokens;
  flight.record.shared = planned.shared;
  flight.record.free_s = free_s > intended_s ? free_s : 0;
  flight.fold = std::make_unique<StreamFold>(flight.record, spec_.traffic.api == Traffic::Api::Chat);

  HttpRequest request;
  request.method = "POST";
  request.url = url_;
  request.headers = spec_.headers;
  request.body = request_body(spec_, planned);
  request.timeout_s = 0;   // ours is below: a timeout is a state, not a transport failure
  request.ca_file = spec_.ca_file;
  request.insecure = spec_.insecure;
  ++in_flight_;
  flight.record.sent_s = EventLoop::now_s();
  flight.call = http_.start(request, {[this, &flight, index](std::string_view bytes, double now) {
                                        flight.fold->on_bytes(bytes, now);
                                        if (flight.fold->refused()) refuse(flight, index, now);
                                      },
                                      [this, &flight, index](const HttpResponse& response, double now) {
                                        flight.record.retries = response.retries;
                                        flight.fold->on_end(response.status, response.error, now);
                                        end(index);
                                      }});
  if (spec_.request_timeout_s > 0) {
    flight.timeout = loop_.after(spec_.request_timeout_s, [this, &flight, index] {
      flight.timeout.reset();
      abort(flight, RequestState::TimedOut, "timeout", EventLoop::now_s());
      end(index);
    });
  }
}

void LoadRun::refuse(Flight& flight, size_t index, double now) {
  http_.cancel(flight.call);
  flight.fold->on_end(0, "", now);
  end(index);
}

void LoadRun::abort(Flight& flight, RequestState state, const std::string& kind, double now) {
  http_.cancel(flight.call);
  flight.record.state = state;
  flight.record.fail_kind = kind;
  flight.record.end_s = now;
}

void LoadRun::count(Flight& flight) {
  RequestRecord& record = flight.record;
  if (!spec_.secret.empty() && !record.fail_text.empty()) record.fail_text = replace_all(record.fail_text, spec_.secret, "***");
  tally_.add(record, opened_s_.value_or(LoadTally::kNotYet), closed_s_.value_or(LoadTally::kNotYet));
  if (!spec_.keep_text) record.text = record.reasoning = "";
  if (record.state == RequestState::Failed && first_failure_.id < 0) first_failure_ = record;
  if (spec_.keep_records) records_.push_back(std::move(record));
}

void LoadRun::end(size_t index) {
  const auto landed = flights_.find(index);
  Flight& flight = landed->second;
  if (flight.timeout) loop_.cancel(*flight.timeout);
  const bool completed = flight.record.state == RequestState::Completed;
  const double end_s = flight.record.end_s;
  count(flight);
  flights_.erase(landed);
  if (in_flight_-- == bound_) released_s_ = end_s;
  ++done_;
  failures_in_a_row_ = completed ? 0 : failures_in_a_row_ + 1;
  if (failures_in_a_row_ >= spec_.traffic.clients + kHopeless && !all_sent_) {
    hopeless_ = true;
    stop_sending();
  }
  // So many ends, whichever: one request that is stuck must not keep the window shut.
  if (closed_ && warming_ > 0 && --warming_ == 0) opened_s_ = end_s;
  if (closed_) fill();
  else if (held_) send_due();
  if (in_flight_ == 0 && all_sent_) {
    close_window(EventLoop::now_s());
    loop_.stop();
  }
}

void LoadRun::close_window(double now) {
  // A trace so short that it is all handed out before warm-up has ended keeps its window open to the end.
  if ((!opened_s_ || only_drain_) && in_flight_ > 0) {
    only_drain_ = true;
    return;
  }
  if (closed_s_) return;
  closed_s_ = now;
  if (closed_ && !spec_.drain && in_flight_ > 0) loop_.after(0, [this] { cut_off_all(); });
}

void LoadRun::cut_off_all() {
  const double now = EventLoop::now_s();
  stop_sending();
  close_window(now);
  if (!closed_s_) closed_s_ = now;
  for (auto& [index, flight] : flights_) {
    abort(flight, RequestState::CutOff, "", now);
    count(flight);
  }
  flights_.clear();
  loop_.stop();
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
  in_flight_over_time_.push_back({now, static_cast<double>(in_flight_) + static_cast<double>(due_ - std::min(due_, next_))});
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
  if (hopeless_) {
    warnings.push_back("gave up early: " + std::to_string(failures_in_a_row_) + " requests failed in a row");
  }
  if (result.summary.window_s <= 0 || only_drain_) {
    warnings.push_back("too short: no time at full load after warm-up; ask for more requests");
  }
}

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

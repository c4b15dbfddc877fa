// What is sent when, and what becomes of it.
#include "load/load_run.h"

#include <algorithm>

#include "base/text.h"

namespace hyperloom {
namespace {

constexpr int kHopeless = 20;   // so many failures in a row past `clients`: the server is gone

}  // namespace

void LoadRun::begin() {
  begun_s_ = last_progress_s_ = EventLoop::now_s();
  if (closed_) {
    if (warming_ == 0) opened_s_ = begun_s_;
    fill();
  } else {
    size_t first = talks_.opening(static_cast<size_t>(spec_.warmup_requests));
    while (first == trace_.requests.size() || trace_.requests[first].follows) --first;   // none begins after warm-up: the last that does
    opened_s_ = begun_s_ + trace_.requests[first].at_s;
    send_due();
  }
}

void LoadRun::fill() {
  while (!all_sent_ && busy() < spec_.traffic.clients) open_next(EventLoop::now_s(), 0);
  if (busy() < spec_.traffic.clients) close_window(EventLoop::now_s());
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
    open_next(due, free);
    if (all_sent_) close_window(free);
  }
}

void LoadRun::open_next(double intended_s, double free_s) {
  if (!closed_ && in_flight_ >= most_in_flight_) {
    out_of_connections_ = true;
    return stop_sending();
  }
  const size_t index = next_;
  next_ = talks_.opening(index + 1);
  if (next_ == trace_.requests.size()) stop_sending();
  send(index, intended_s, free_s);
}

void LoadRun::go_on(size_t index, bool completed, double end_s, std::string answer) {
  if (!completed || hopeless_) {
    unasked_ += talks_.broken_off(index);
    return;
  }
  const bool more = talks_.goes_on(index);
  talks_.answered(index, std::move(answer));
  if (!more) return;
  ++thinking_;
  const double due = end_s + trace_.requests[index + 1].think_s;
  loop_.after(std::max(0.0, due - EventLoop::now_s()), [this, index, due] {
    --thinking_;
    take_turn(index + 1, due);
  });
}

void LoadRun::take_turn(size_t index, double due_s) {
  if (bound_ > 0 && in_flight_ >= bound_) {
    held_turns_.push_back({index, due_s});
    return;
  }
  if (!closed_ && in_flight_ >= most_in_flight_) {
    out_of_connections_ = true;
    unasked_ += 1 + talks_.broken_off(index);
    stop_sending();
    return finish_if_over();
  }
  send(index, due_s, std::max(due_s, released_s_));
}

void LoadRun::send(size_t index, double intended_s, double free_s) {
  const PlannedRequest& planned = trace_.requests[index];
  Flight& flight = flights_[index];
  flight.record.id = static_cast<int>(index);
  flight.record.intended_s = intended_s;
  flight.record.turn = talks_.turn(index);
  flight.record.asked_tokens = flight.record.turn > 1 ? 0 : planned.prompt_tokens;   // answers are in a later turn's prompt
  flight.record.shared = talks_.shared(index);
  flight.record.free_s = free_s > intended_s ? free_s : 0;
  flight.fold = std::make_unique<StreamFold>(flight.record, spec_.traffic.api == Traffic::Api::Chat);

  HttpRequest request;
  request.method = "POST";
  request.url = url_;
  request.headers = spec_.headers;
  request.body = request_body(spec_, planned, talks_.before(index));
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
  std::string answer = talks_.goes_on(index) ? flight.record.text : "";
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
  go_on(index, completed, end_s, std::move(answer));
  if (closed_) {
    fill();
  } else if (!held_turns_.empty()) {
    const Turn turn = held_turns_.front();
    held_turns_.pop_front();
    take_turn(turn.index, turn.due_s);
  } else if (held_) {
    send_due();
  }
  finish_if_over();
}

void LoadRun::finish_if_over() {
  if (busy() > 0 || !held_turns_.empty() || !all_sent_) return;
  close_window(EventLoop::now_s());
  loop_.stop();
}

void LoadRun::close_window(double now) {
  // A trace so short that it is all handed out before warm-up has ended keeps its window open to the end.
  if ((!opened_s_ || only_drain_) && busy() > 0) {
    only_drain_ = true;
    return;
  }
  if (closed_s_) return;
  closed_s_ = now;
  if (closed_ && !spec_.drain && busy() > 0) loop_.after(0, [this] { cut_off_all(); });
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

}  // namespace hyperloom

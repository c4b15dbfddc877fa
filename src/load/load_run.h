// One load run from its first request to its last. Internal to the room: run_load owns it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "load/client_health.h"
#include "load/generator.h"
#include "load/request_body.h"
#include "load/saturation.h"
#include "load/talks.h"
#include "load/tally.h"
#include "net/http.h"
#include "os/event_loop.h"

namespace hyperloom {

// One run over one server. Everything happens on the thread that calls run().
class LoadRun {
 public:
  LoadRun(const LoadSpec& spec, const RequestTrace& trace,
          const std::function<void(const LoadProgress&)>& progress, const volatile bool* stop_flag)
      : spec_(spec), trace_(trace), progress_(progress), stop_flag_(stop_flag), http_(loop_),
        url_(endpoint_url(spec.url, spec.traffic.api)), talks_(trace), closed_(spec.traffic.kind == Traffic::Kind::Closed),
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
  void open_next(double intended_s, double free_s);   // the next conversation, or request that stands alone
  void send(size_t index, double intended_s, double free_s);
  void go_on(size_t index, bool completed, double end_s, std::string answer);   // with the conversation whose turn landed
  void take_turn(size_t index, double due_s);
  int busy() const { return in_flight_ + thinking_; }   // who has a client for himself
  void finish_if_over();
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
  Talks talks_;
  const bool closed_;
  const int bound_;                           // open loop: so many in flight, who is due beyond waits; 0 = none
  std::map<size_t, Flight> flights_;          // in the air, by place in the trace; folds point into them
  std::vector<RequestRecord> records_;        // of those that landed
  RequestRecord first_failure_{.id = -1};
  LoadTally tally_;
  size_t next_ = 0, due_ = 0;                 // places in the trace: the next to open a conversation, the next to fall due
  struct Turn { size_t index; double due_s; };
  std::deque<Turn> held_turns_;               // due, and waiting for another to end
  int thinking_ = 0;                          // conversations whose next turn will be asked
  size_t unasked_ = 0;                        // turns of conversations that broke off
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

}  // namespace hyperloom

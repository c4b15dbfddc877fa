// Drives one server with one trace. Closed loop: `clients` requests always in flight. Open loop: at intended times, or
// as soon after as a bound on requests in flight lets; latencies count from the intended time all the same.
// The window opens when warm-up ends and closes when the trace has been handed out (closed loop) or at its end
// (open loop); what is still in flight is drained and judged, its tokens inside the window count.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "load/metrics.h"
#include "load/request_trace.h"
#include "load/tally.h"

namespace hyperloom {

struct LoadSpec {
  std::string url;                       // base URL
  std::string model = "default";
  std::vector<std::string> headers;
  Traffic traffic;
  int warmup_requests = 0;               // a closed loop opens its window after so many ends, an open loop after so many sends
  double request_timeout_s = 120;
  double time_limit_s = 0;               // the window closes here at the latest, the rest is cut off; 0 = none
  std::vector<Limit> limits;
  bool drain = true;                     // false: in a closed loop what is still in flight when the window closes is cut off
  bool temperature_zero = true;          // greedy, fixed seed
  bool keep_text = true;                 // what the server said, in the records
  bool keep_records = true;              // false: only the figures, 72 bytes a request
  bool stream = true;                    // false: whole answers at once; TTFT, TPOT and ITL are absent then
  std::string ca_file;                   // as in HttpRequest
  bool insecure = false;
  std::string secret;                    // masked where a server quotes it in an error
};

struct LoadProgress { double elapsed_s = 0; int done = 0, total = 0; double output_tok_s = 0; };

struct LoadResult {
  std::vector<RequestRecord> records;    // in the order of the trace; empty without keep_records
  RequestRecord first_failure;           // of a request that failed; id -1 = none did
  LoadSummary summary;
  double window_start_s = 0, window_end_s = 0;
  double loop_delay_ms = 0;              // our own worst lateness
  double client_cpu_s = 0;               // what our own thread used
  double answered_prompt_tokens = 0;     // by usage, of all answers, warm-up too
  LogHistogram itl_s{0.001};
  std::vector<LimitCount> limit_counts;  // in the order of the limits
  bool stopped = false;                  // by stop_flag
  bool out_of_connections = false;       // stopped sending: as many in flight as this process may open files
  bool saturated = false;                // the open loop asked for more than the server can do (load/saturation.h)
};

LoadResult run_load(const LoadSpec& spec, const RequestTrace& trace, const std::function<void(const LoadProgress&)>& progress = {},
                    const volatile bool* stop_flag = nullptr);

}  // namespace hyperloom

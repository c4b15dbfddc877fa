// The traffic that bench's and compare's flags ask for. Every refusal names the flag, the value and the mend.
#pragma once

#include <cstdint>
#include <string>

#include "workload/traffic.h"

namespace hyperloom {

struct TrafficFlags {
  int clients = 8;
  double rate_rps = 0;                   // above 0: open loop
  bool clients_given = false;            // in an open loop: a bound on requests in flight
  bool sweeps_rates = false;             // the rate comes with each step
  std::string arrival = "poisson";       // or constant
  double burstiness = 1;
  std::string ramp_up;                   // linear, exponential; empty = none
  double ramp_from_rps = 0, ramp_to_rps = 0;
  int requests = 0, prompt_tokens = 0, output_tokens = 0;   // output_tokens 0 = the dataset's own lengths
  std::string api = "chat", dataset, trace;
  double speed = 1;                      // of the trace
  double turns = 0, think_s = 0;         // of conversations; no turns = none
  uint64_t seed = 1;
  bool ignore_eos = true;
};
Traffic checked_traffic(const TrafficFlags& flags);

}  // namespace hyperloom

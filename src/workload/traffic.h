// What is asked of the server: how requests arrive and what they hold (docs/measurement-load.md).
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"

namespace hyperloom {

struct Spread { double mean = 0, cv = 0; };     // a token length: mean and coefficient of variation (log-normal)

// An open loop's arrivals, beside their rate.
struct Arrival {
  enum class Process { Poisson, Constant, Gamma };
  Process process = Process::Poisson;
  double burstiness = 1;                        // Gamma: shape of the gaps; below 1 they come in bursts, 1 is Poisson
  std::string ramp_up;                          // "", linear or exponential: by request number, from ramp_from_rps up to the rate
  double ramp_from_rps = 0;
  int max_in_flight = 0;                        // who comes beyond waits, and that wait is part of its latency; 0 = no bound

  bool operator==(const Arrival&) const = default;
};

struct Traffic {
  enum class Kind { Closed, Open, Trace };
  enum class Api { Chat, Completions };
  Kind kind = Kind::Closed;
  Api api = Api::Chat;
  int clients = 0;                              // closed loop
  double rate_rps = 0;                          // open loop; with a ramp, its end
  Arrival arrival;                              // open loop
  Spread prompt_tokens, output_tokens;          // of a trace: the file's own
  std::string dataset;                          // path: plain lines, JSON lines {"prompt"}, or ShareGPT JSON; empty = synthetic
  std::string trace, trace_sha256;              // path of the recorded traffic that is replayed (workload/trace_file.h)
  double trace_speed = 1;                       // 2 = twice as fast; rate_rps is the mean rate at this speed, 0 = all at once
  int64_t trace_entries = 0;
  int longest_tokens = 0;                       // prompt and answer together, of a trace; 0 = not known
  Spread turns, think_s;                        // of conversations: each turn holds all before it; turns.mean 0 = requests stand alone
  bool ignore_eos = true;
  int shared_prefix_tokens = 0;
  uint64_t seed = 1;
};

Json to_json_value(const Traffic& traffic);     // part of the workload's canonical form: additions only, and absent by default
Traffic traffic_from_json(const Json& json);    // what to_json_value wrote; else Json::exception

// "closed", "poisson", "constant", "gamma", "trace": a word for classes of workloads.
std::string kind_word(const Traffic& traffic);
// "8 clients in a closed loop", "2 requests/s, Poisson arrivals, ...": how requests arrive, for people.
std::string arrival_text(const Traffic& traffic);

}  // namespace hyperloom

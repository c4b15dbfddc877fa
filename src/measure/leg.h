// A leg: one server boot measured once under one request trace. The unit of replication.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/server.h"
#include "load/generator.h"
#include "os/pollution.h"

namespace hyperloom {

struct LegOrder {
  LaunchSpec launch;
  Traffic traffic;
  Objective objective;
  uint64_t trace_seed = 0;               // the same for both legs of a pair
  double tokens_per_word = 1.3;
  int measured_requests = 0;             // the fixed budget
  int warmup_requests = 0;
  double time_limit_s = 120;             // of the load, all in
  bool drain = false;                    // let every request end, though only output tokens are asked for
  NeighbourLimits limits;
  // This engine has answered here before. Then a taken port is no evidence even where the user's command fixes it; before,
  // it is a failure that says how to mend it: repeating would not.
  bool ran_before = false;
};

struct LegResult {
  double value = 0;                      // the objective, more is better
  std::string trace_sha256;
  LoadSummary load;
  Neighbours neighbours;
  std::map<std::string, std::string> effective;
  std::map<std::string, double> metrics; // engine counters, difference over the leg
  double boot_s = 0, cost_s = 0;         // cost: everything, boot to gone
  uint64_t peak_rss_bytes = 0;
  bool forced_stop = false;
  std::string records_jsonl;             // for a blob
  std::string answers_sha256;            // of all answer texts in trace order
  std::vector<std::string> void_reasons; // non-empty = no evidence (L8): polluted, stopped, our own lateness
};
void to_json(Json& json, const LegResult& result);     // without records_jsonl
void from_json(const Json& json, LegResult& result);

// A Failure = the candidate's own fault (died, ignored flag, failed requests): evidence against it, not noise.
using LegOutcome = std::variant<LegResult, Failure>;

struct LegHooks {
  Server::OnStarted on_started;          // journal pid and port before load
  std::function<void(const LoadProgress&)> on_progress;
  std::function<void(Server&)> under_load;   // called once from another thread when the window opens (profiling)
  const volatile bool* stop_flag = nullptr;
};

LegOutcome run_leg(const Pack& pack, const LegOrder& order, const std::filesystem::path& log, const LegHooks& hooks);

}  // namespace hyperloom

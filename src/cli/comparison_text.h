// What `hyperloom compare` has found, in words and as JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "stats/sequential.h"

namespace hyperloom {

struct ComparedPair {
  bool a_first = true;
  double a = 0, b = 0;               // output_tok_s
  double ttft_a_ms = 0, ttft_b_ms = 0;   // p50; 0 = absent
  double log_ratio() const;
};

struct LegShape { int requests = 0, warmup = 0; double window_s = 0, boot_a_s = 0, boot_b_s = 0; };

struct ComparedCommands {
  std::vector<ComparedPair> pairs;
  double alpha = 0.05;               // chance of a wrong "faster", as asked for
  TestPlan plan;
  Look look;                         // the last
  std::string b_failure;             // non-empty: B does not run
  std::string why_not;               // unresolvable for another reason than the test
  double pair_sd_log = 0;
  int pool_df = 0, voids = 0;
  LegShape leg;
  double same_answers = -1;          // mean share of common prefix; < 0 = not known
  // faster | not_useful | unresolvable | b_does_not_run | interrupted
  std::string verdict;
};

std::string pair_line(int number, const ComparedPair& pair);
std::string to_text(const ComparedCommands& result);
Json to_json_value(const ComparedCommands& result);

// Two servers that somebody else booted: an estimate, never a verdict.
struct ComparedServers { std::vector<ComparedPair> pairs; LegShape load; bool same_host = false, interrupted = false; };
std::string to_text(const ComparedServers& result);
Json to_json_value(const ComparedServers& result);

}  // namespace hyperloom

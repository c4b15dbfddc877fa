// What a leg's load says about the leg: the candidate's own fault, no evidence at all, or a measurement.
// Pure: run_leg() gathers, these judge.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/failure.h"
#include "engine/server.h"
#include "load/generator.h"
#include "os/pollution.h"

namespace hyperloom {

constexpr double kMostFailed = 0.02;        // share of ended requests that may fail in a leg that still counts

// Requests that failed, timed out, hung (cut off after 10 s and four times the p99 of the answers) or, where the
// length was fixed, came back without a token; when more than kMostFailed of those that ended did. Also when nothing
// completed or `value` is not above 0.
std::optional<Failure> load_failure(const LoadResult& load, const Traffic& traffic, double value);

// Somebody else took the port meanwhile: says nothing of the candidate. `ran_before`: as in LegOrder.
bool lost_our_port(const Failure& failure, const LaunchSpec& launch, bool ran_before);

// Our own worst stall that still leaves the leg valid, in ms: half of a 0.5 % gain of the window, 50 ms at least.
double most_loop_delay_ms(double window_s);

// Why the load is no evidence (L8), one line each; empty = it is.
std::vector<std::string> void_reasons(const LoadResult& load, const Neighbours& neighbours,
                                      const NeighbourLimits& limits);

// The engine's counters over the leg. What fell (a gauge) is left out; of an engine that restarted, everything is.
std::map<std::string, double> counter_differences(const std::map<std::string, double>& before,
                                                  const std::map<std::string, double>& after);

std::string records_jsonl(const std::vector<RequestRecord>& records);
// SHA-256 over (id, reasoning, text) of the completed requests in trace order: equal = the same answers, byte for byte.
std::string answers_sha256(const std::vector<RequestRecord>& records);

}  // namespace hyperloom

// How a report says things: ratios, values, machines, workloads. Plain ASCII; HTML swaps its own
// signs in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/printable.h"
#include "report/report.h"

namespace hyperloom {

std::string ratio_text(double log_ratio);             // "1.72", "1.004"
std::string interval_text(const Interval& interval);  // "[1.65, 1.79]", or "" below two pairs
// "1.72x faster [1.65, 1.79] at 95 %, 5 fresh pairs"; also says slower, no interval, no claim.
std::string claim_text(const Interval& claim);
std::string percent_text(double share);  // "93.1 %"
std::string figure_text(double value);   // three significant digits, no exponent
std::string count_text(size_t count, const std::string& noun);  // "1 pair", "3 pairs"

bool smaller_is_better(const Objective& objective);
// The objective's figure as people read it: legs hold 1000/ms for latencies, this gives ms again.
double in_unit(double leg_value, const Objective& objective);
std::string shown_unit(const Objective& objective);                    // "tok/s", "ms"
std::string value_text(double leg_value, const Objective& objective);  // "61.3 tok/s"
std::string objective_text(const Objective& objective);                // "output tokens per second"
std::string limit_text(const Limit& limit);                            // "ttft p95 <= 300 ms"

std::string traffic_text(const Traffic& traffic);  // "4 clients, 128 -> 64 tokens, chat"
std::string machine_text(const MachineFacts& machine);
std::string model_text(const ModelFacts& model);
std::string engine_text(const ProbeEvent& probe);

std::string because_text(const PhaseEntered& entered);  // "budget too small: this workload needs ..."

std::string html_text(std::string_view text);  // printable, then escaped

// One launch as a person would type it, PORT in place; a backslash before each flag when `wrapped`.
std::string launch_text(const LaunchSpec& launch, bool wrapped);

}  // namespace hyperloom

// What bench and compare read from their command lines. Every refusal names the flag, the value and the mend.
#pragma once

#include <string>
#include <vector>

#include "workload/workload.h"

namespace hyperloom {

// Words as a POSIX shell splits them: blanks, '...', "..." and backslashes; no expansion of any kind, and no shell
// runs. Error(BadInput) on an open quote or an empty command; `what` names it in the message ("A").
std::vector<std::string> split_command(const std::string& text, const std::string& what);

// A launch command's words with {port} (or ${port}) turned into ${port}, which the server room fills in.
// Error(BadInput) when it names no port at all, or one fixed port (each boot takes a free one).
std::vector<std::string> launch_words(const std::string& text, const std::string& what);

bool is_url(const std::string& text);
// Error(BadInput) unless http:// or https:// with a host. Returns it without slashes at the end.
std::string checked_url(const std::string& url, const std::string& flag);

// "ttft:p95:500", "ttft:p95<500ms", "ttft:p95<=0.5s": metric, percentile (50, 90, 95 or 99), limit (in ms without a unit).
Limit parse_limit(const std::string& text, const std::string& flag = "--limit");
// "ttft:p99<500ms,tpot:p90<40ms": the limits of --slo, each in a form that parse_limit reads.
std::vector<std::string> slo_limits(const std::string& text);

// "ttft:500" as vLLM's --goodput has it: every request within so many ms. Read as the limit of its p99.
std::string goodput_limit(const std::string& text);
// "Name: value", or "Name=value" as vLLM has it; returns the former. Error(BadInput) for what is neither.
std::string checked_header(const std::string& text);

// "clients", "rate", "clients:1,8,64", "rate:0.5,1,2": what a sweep steps through. No steps = it finds its own.
struct SweepSteps { bool by_rate = false; std::vector<double> loads; };
SweepSteps parse_sweep(const std::string& text);

}  // namespace hyperloom

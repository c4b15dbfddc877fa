// The ways of `hyperloom bench`, apart from one load on a URL (bench_command.cc).
#pragma once

#include "cli/commands.h"

namespace hyperloom {

const char* bench_footer();                      // of `bench --help`: examples, and the way over from `vllm bench serve`
int bench_leg(const BenchOptions& options);      // --workload: one full leg as a session would run it
int bench_slo(const BenchOptions& options);      // --slo: the highest rate that meets the limits
int bench_sweep(const BenchOptions& options);    // --sweep: steps of load up to saturation

// Error(BadInput) unless `file` can be written later: a result that took minutes must not be lost to a wrong path.
void check_writable(const std::filesystem::path& file, const std::string& flag);

}  // namespace hyperloom

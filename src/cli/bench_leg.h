// `hyperloom bench --workload`: one full leg as a session would run it.
#pragma once

#include "cli/commands.h"

namespace hyperloom {

int bench_leg(const BenchOptions& options);

// Error(BadInput) unless `file` can be written later: a result that took minutes must not be lost to a wrong path.
void check_writable(const std::filesystem::path& file, const std::string& flag);

}  // namespace hyperloom

// What percentiles of few samples are worth.
#pragma once

#include <string>
#include <vector>

#include "load/metrics.h"

namespace hyperloom {

// Nearest rank: below 100 samples p99 is the largest one, whatever the server does. One line for each limit that
// suffers, and one for the table's p99 when no limit asked for it.
std::vector<std::string> sample_size_warnings(const LoadSummary& summary, const std::vector<Limit>& limits);

}  // namespace hyperloom

// When the requests of an open loop are due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload/traffic.h"

namespace hyperloom {

// Seconds from the first request, which is due at 0; rising. A renewal process given its count: the gaps are scaled so that
// the whole takes exactly the time that the rate asks for, else the offered load itself would differ between traces.
//   Poisson   exponential gaps
//   Constant  equal gaps
//   Gamma     gaps of shape `burstiness` and the same mean, as `vllm bench serve --burstiness`
// A ramp divides gap i of n by rate_i: with p = i/(n-1), from + (to-from) p (linear) or from (to/from)^p (exponential), by
// request number, as `vllm bench serve --ramp-up-strategy`.
// Error(BadInput) when the rate is not above 0.
std::vector<double> arrival_times(const Traffic& traffic, uint64_t seed, size_t count);

}  // namespace hyperloom

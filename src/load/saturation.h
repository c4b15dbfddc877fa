// Does an open loop ask for more than the server can do? Then requests in flight and the wait for the first token both
// keep growing, and every figure depends on how long one measures.
#pragma once

#include <string>
#include <vector>

namespace hyperloom {

struct TimedValue { double at_s, value; };

// Whether the values rise over [start_s, end_s]: the means of twelve equal stretches of time have a slope that is
// significant (one-sided t test, p < 0.001), and the last third is at least half again as high as the first. Fewer than
// three values in a stretch: not judged. After GuideLLM, which stops a run when both slopes are positive by a t interval;
// means of stretches because neighbouring values of a queue are not independent.
bool rises(const std::vector<TimedValue>& values, double start_s, double end_s);

// A line, or "" when not both rise.
std::string saturation_warning(const std::vector<TimedValue>& in_flight, const std::vector<TimedValue>& ttft_s, double start_s,
                               double end_s);

}  // namespace hyperloom

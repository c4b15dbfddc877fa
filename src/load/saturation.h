// A server is saturated where more load brings no more work, only more waiting. Inside one run of an open loop that shows
// over time: requests in flight and the wait for the first token both keep growing, and every figure depends on how long
// one measures. Over the steps of a sweep it shows from one step to the next.
#pragma once

#include <cstddef>
#include <optional>
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

// One step of a sweep. `load` is what was asked for (clients or requests a second, above 0), throughput and latency are what
// came of it (any unit, the same for all). `keeps_up`: false when the run itself was saturated, or its requests failed.
struct LoadPoint { double load = 0, throughput = 0, latency = 0; bool keeps_up = true; };

struct LoadCurve {
  std::optional<size_t> knee;            // place of the point with the greatest throughput / latency
  std::vector<size_t> beside;            // whose throughput / latency is within a tenth of that: a repeat might name them
  std::optional<size_t> saturated;       // first point of those where more load brought nothing
};

// By growing load. The knee is where throughput / latency, the "power" of Kleinrock 1979 (Power and deterministic rules of
// thumb for probabilistic problems in computer communications, ICC), is greatest; by Little's law that is where the next
// doubling of the requests in flight stops giving half of a doubling of the throughput (41 %). No knee where the greatest
// is the last point and nothing was saturated (it may lie higher), nor from fewer than two points.
// Saturated: a run that did not keep up, or two points in a row of which each got less than a tenth of the throughput that its
// load asked for beyond the best point before it (ln T/T' < 0.1 ln L/L': 7 % for twice the load) at a longer latency.
// Two, because one point may be a bad draw.
LoadCurve read_curve(const std::vector<LoadPoint>& points);

}  // namespace hyperloom

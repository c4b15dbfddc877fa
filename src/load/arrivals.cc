#include "load/arrivals.h"

#include <cmath>

#include "base/error.h"
#include "load/random.h"

namespace hyperloom {
namespace {

constexpr double kNothing = 1e-200;   // gaps so bursty that they are no numbers any more: all at once

double unit_gap(const Arrival& arrival, Random& random) {
  switch (arrival.process) {
    case Arrival::Process::Constant: return 1;
    case Arrival::Process::Gamma: return random.gamma(arrival.burstiness) / arrival.burstiness;
    case Arrival::Process::Poisson: break;
  }
  return random.exponential();
}

// How much longer than at the final rate the gap before request `i` of `count` is.
double stretch(const Traffic& traffic, size_t i, size_t count) {
  const Arrival& arrival = traffic.arrival;
  if (arrival.ramp_up.empty()) return 1;
  const double progress = static_cast<double>(i) / static_cast<double>(count - 1);
  const double from = arrival.ramp_from_rps, to = traffic.rate_rps;
  return to / (arrival.ramp_up == "linear" ? from + (to - from) * progress : from * std::pow(to / from, progress));
}

}  // namespace

std::vector<double> arrival_times(const Traffic& traffic, uint64_t seed, size_t count) {
  if (!(traffic.rate_rps > 0)) throw bad_input("traffic.rate_rps is not above 0", "state rate_rps: 2");
  if (!traffic.arrival.ramp_up.empty() && !(traffic.arrival.ramp_from_rps > 0))
    throw bad_input("traffic.arrival.ramp_from_rps is not above 0", "state where the ramp begins, as ramp_from_rps: 0.5");
  Random random(seed ^ 0xa441);
  std::vector<double> times(count, 0);
  double at = 0, expected = 0;   // in gaps of the final rate
  for (size_t i = 1; i < count; ++i) {
    const double longer = stretch(traffic, i, count);
    expected += longer;
    at += unit_gap(traffic.arrival, random) * longer;
    times[i] = at;
  }
  const double scale = at > kNothing ? expected / traffic.rate_rps / at : 0;
  for (double& time : times) time *= scale;
  return times;
}

}  // namespace hyperloom

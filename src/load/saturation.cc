#include "load/saturation.h"

#include <fmt/format.h>

#include <algorithm>

#include "stats/quantile.h"

namespace hyperloom {
namespace {

constexpr size_t kStretches = 12, kThird = kStretches / 3;
constexpr size_t kLeastValues = 3;
constexpr double kCriticalT = 4.144;   // t quantile 0.999 at 10 degrees of freedom
constexpr double kLeastGrowth = 1.5;

// Empty when a stretch has too few values.
std::vector<double> stretch_means(const std::vector<TimedValue>& values, double start_s, double end_s) {
  std::vector<std::vector<double>> stretches(kStretches);
  for (const TimedValue& v : values) {
    if (v.at_s < start_s || v.at_s >= end_s) continue;
    const auto place = static_cast<size_t>((v.at_s - start_s) / (end_s - start_s) * kStretches);
    stretches[std::min(place, kStretches - 1)].push_back(v.value);
  }
  std::vector<double> means;
  for (const std::vector<double>& stretch : stretches) {
    if (stretch.size() < kLeastValues) return {};
    means.push_back(mean(stretch));
  }
  return means;
}

double first_third(const std::vector<double>& means) { return mean({means.begin(), means.begin() + kThird}); }
double last_third(const std::vector<double>& means) { return mean({means.end() - kThird, means.end()}); }

bool means_rise(const std::vector<double>& means) {
  return !means.empty() && slope_t(means) > kCriticalT && last_third(means) > kLeastGrowth * first_third(means);
}

}  // namespace

bool rises(const std::vector<TimedValue>& values, double start_s, double end_s) {
  return end_s > start_s && means_rise(stretch_means(values, start_s, end_s));
}

std::string saturation_warning(const std::vector<TimedValue>& in_flight, const std::vector<TimedValue>& ttft_s, double start_s,
                               double end_s) {
  if (!rises(in_flight, start_s, end_s) || !rises(ttft_s, start_s, end_s)) return "";
  const std::vector<double> flights = stretch_means(in_flight, start_s, end_s), waits = stretch_means(ttft_s, start_s, end_s);
  return fmt::format("saturated: requests in flight grew from {:.0f} to {:.0f} and TTFT from {:.0f} to {:.0f} ms: the server is slower "
                     "than the rate asked for, and longer runs would give worse figures",
                     first_third(flights), last_third(flights), 1e3 * first_third(waits), 1e3 * last_third(waits));
}

}  // namespace hyperloom

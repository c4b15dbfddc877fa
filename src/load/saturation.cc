#include "load/saturation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"

namespace hyperloom {
namespace {

constexpr size_t kStretches = 12, kThird = kStretches / 3;
constexpr size_t kLeastValues = 3;
constexpr double kCriticalT = 4.144;   // t quantile 0.999 at 10 degrees of freedom
constexpr double kLeastGrowth = 1.5;
constexpr double kLeastShare = 0.1;    // of the throughput that added load asks for
constexpr double kAsGood = 0.9;        // of the greatest power

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

// Whether point `i` brought work for its load, beyond the best of the points before it.
bool pays(const std::vector<LoadPoint>& points, size_t i) {
  const auto best = std::max_element(points.begin(), points.begin() + static_cast<long>(i),
                                     [](const LoadPoint& a, const LoadPoint& b) { return a.throughput < b.throughput; });
  const LoadPoint& now = points[i];
  if (now.throughput <= 0) return false;
  if (best->throughput <= 0 || now.latency <= best->latency) return true;
  return std::log(now.throughput / best->throughput) >= kLeastShare * std::log(now.load / best->load);
}

double power(const LoadPoint& point) { return point.keeps_up && point.latency > 0 ? point.throughput / point.latency : 0; }

}  // namespace

LoadCurve read_curve(const std::vector<LoadPoint>& points) {
  LoadCurve curve;
  for (size_t i = 0; i < points.size() && !curve.saturated; ++i) {
    const bool idle_steps = i > 0 && i + 1 < points.size() && !pays(points, i) && !pays(points, i + 1);
    if (!points[i].keeps_up || idle_steps) curve.saturated = i;
  }
  const auto best = std::max_element(points.begin(), points.end(), [](const LoadPoint& a, const LoadPoint& b) { return power(a) < power(b); });
  if (points.size() < 2 || power(*best) <= 0 || (best == points.end() - 1 && !curve.saturated)) return curve;
  curve.knee = static_cast<size_t>(best - points.begin());
  for (size_t i = 0; i < points.size(); ++i)
    if (i != *curve.knee && power(points[i]) >= kAsGood * power(*best)) curve.beside.push_back(i);
  return curve;
}

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

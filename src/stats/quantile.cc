#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyperloom {

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double sample_sd(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  // Welford: mean of squares minus square of the mean cancels for values like log throughput.
  double mean = 0, squares = 0, count = 0;
  for (double value : values) {
    count += 1;
    const double delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }
  return std::sqrt(squares / (count - 1));
}

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  const double count = static_cast<double>(values.size());
  // The small step down keeps 0.95 * 20 = 19.000000000000004 at rank 19.
  const double rank = std::clamp(std::ceil(percent / 100 * count - 1e-9), 1.0, count);
  const auto at = values.begin() + (static_cast<long>(rank) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double slope_t(const std::vector<double>& values) {
  const size_t n = values.size();
  if (n < 3) return 0;
  const double x_mean = (static_cast<double>(n) - 1) / 2, y_mean = mean(values);
  double xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - x_mean, y = values[i] - y_mean;
    xx += x * x, xy += x * y, yy += y * y;
  }
  const double slope = xy / xx;
  const double rest = std::max(0.0, yy - slope * xy) / (static_cast<double>(n) - 2);
  // Exactly straight (to rounding): no noise to compare with, so any slope at all is significant.
  if (rest <= 1e-24 * std::max(yy, y_mean * y_mean)) {
    if (std::fabs(slope) * static_cast<double>(n) <= 1e-12 * std::fabs(y_mean) || slope == 0)
      return 0;
    return std::copysign(std::numeric_limits<double>::infinity(), slope);
  }
  return slope / std::sqrt(rest / xx);
}

}  // namespace hyperloom

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "stats/quantile.h"
#include "stats/sequential.h"

namespace hyperloom {
namespace {

// A metric that is printed with few digits has a MAD of 0; below this the clamp would cut real
// effects.
constexpr double kLeastClip = 0.0015;
constexpr double kNormalMad = 0.6745;

double rms(const std::vector<double>& values) {
  double squares = 0;
  for (double value : values) squares += value * value;
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

void check_finite(const std::vector<double>& values) {
  for (double value : values)
    if (!std::isfinite(value))
      throw internal_error("a leg's log value is not finite: was its throughput 0?");
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return 0.5 * (*std::max_element(values.begin(), middle) + *middle);
}

void NoisePool::add_stock_legs(const std::vector<double>& log_values) {
  check_finite(log_values);
  const double count = static_cast<double>(log_values.size());
  if (count < 2) return;  // one leg says nothing of noise
  const double centre = mean(log_values);
  // A residual has (L-1)/L of one leg's variance, a pair difference twice that variance.
  for (double value : log_values)
    values_.push_back((value - centre) * std::sqrt(2 * count / (count - 1)));
  df_ += static_cast<int>(log_values.size()) - 1;
}

void NoisePool::add_null_pairs(const std::vector<double>& differences) {
  check_finite(differences);
  values_.insert(values_.end(), differences.begin(), differences.end());
  df_ += static_cast<int>(differences.size());
}

void NoisePool::add_comparison(const std::vector<double>& differences) {
  check_finite(differences);
  const double count = static_cast<double>(differences.size());
  if (count < 2) return;
  const double centre = mean(differences);
  for (double value : differences)
    values_.push_back((value - centre) * std::sqrt(count / (count - 1)));
  df_ += static_cast<int>(differences.size()) - 1;
}

void NoisePool::start_with(const std::vector<double>& earlier) {
  earlier_.clear();
  for (double value : earlier)
    if (std::isfinite(value) && earlier_.size() < kMostEarlier) earlier_.push_back(value);
}

int NoisePool::df() const {
  return df_ + (earlier_count() ? static_cast<int>(earlier_.size()) : 0);
}

std::vector<double> NoisePool::values() const {
  std::vector<double> all = values_;
  if (!earlier_count()) return all;
  const double quiet = rms(earlier_);
  const double scale = quiet > 0 ? std::max(1.0, rms(values_) / quiet) : 1;
  for (double value : earlier_) all.push_back(scale * value);
  return all;
}

double NoisePool::clip_limit(double clip) const {
  std::vector<double> sizes = values();
  for (double& size : sizes) size = std::fabs(size);
  return std::max(clip * median(std::move(sizes)) / kNormalMad, kLeastClip);
}

double NoisePool::pair_sd() const {
  std::vector<double> clamped = values();
  if (clamped.empty()) return 0;
  const double limit = clip_limit();
  for (double& value : clamped) value = std::clamp(value, -limit, limit);
  return rms(clamped);
}

}  // namespace hyperloom

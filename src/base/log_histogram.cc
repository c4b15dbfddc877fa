#include "base/log_histogram.h"

#include <algorithm>
#include <cmath>

namespace hyperloom {
namespace {

constexpr double kLeast = 1e-9, kMost = 1e9;

}  // namespace

LogHistogram::LogHistogram(double relative_error)
    : error_(relative_error), log_g_(std::log((1 + relative_error) / (1 - relative_error))) {}

int LogHistogram::index_of(double value) const { return static_cast<int>(std::ceil(std::log(value) / log_g_)); }

double LogHistogram::value_of(int index) const { return 2 * std::exp(index * log_g_) / (std::exp(log_g_) + 1); }

void LogHistogram::add(double value, uint64_t times) {
  if (times == 0 || std::isnan(value)) return;
  value = std::min(value, kMost);
  count_ += times;
  if (value < kLeast) {
    zeros_ += times;
    return;
  }
  sum_ += value * static_cast<double>(times);
  max_ = std::max(max_, value);
  const int index = index_of(value);
  if (counts_.empty()) lowest_ = index;
  if (index < lowest_) {
    counts_.insert(counts_.begin(), static_cast<size_t>(lowest_ - index), 0);
    lowest_ = index;
  }
  const size_t place = static_cast<size_t>(index - lowest_);
  if (place >= counts_.size()) counts_.resize(place + 1, 0);
  counts_[place] += times;
}

double LogHistogram::mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

double LogHistogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  const double total = static_cast<double>(count_);
  const auto rank = static_cast<uint64_t>(std::clamp(std::ceil(percent / 100 * total - 1e-9), 1.0, total));
  if (rank == count_) return max_;
  uint64_t seen = zeros_;
  if (rank <= seen) return 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (rank <= seen) return std::min(value_of(lowest_ + static_cast<int>(i)), max_);
  }
  return max_;
}

std::vector<LogHistogram::Bucket> LogHistogram::buckets() const {
  std::vector<Bucket> filled;
  if (zeros_ > 0) filled.push_back({0, zeros_});
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0) filled.push_back({value_of(lowest_ + static_cast<int>(i)), counts_[i]});
  return filled;
}

}  // namespace hyperloom

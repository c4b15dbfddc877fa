// Percentiles of any number of values in bounded memory: buckets of geometric width, so that every value is known to
// within a relative error (DDSketch: Masson, Rim, Lee, VLDB 12(12), 2019, section 2.2). With error a and
// g = (1 + a) / (1 - a), bucket i holds (g^(i-1), g^i], and 2 g^i / (g + 1) is within a of all of them.
#pragma once

#include <cstdint>
#include <vector>

namespace hyperloom {

class LogHistogram {
 public:
  explicit LogHistogram(double relative_error = 0.01);

  // Values below 1e-9 count as 0, those past 1e9 as 1e9 (what unit they have is the caller's affair).
  void add(double value, uint64_t times = 1);

  uint64_t count() const { return count_; }
  double mean() const;                       // of the values themselves; 0 when empty
  double max() const { return max_; }        // the value itself
  double percentile(double percent) const;   // nearest rank, within the relative error; 0 when empty
  double relative_error() const { return error_; }

  struct Bucket { double value; uint64_t count; };
  std::vector<Bucket> buckets() const;       // those that hold something, by rising value

 private:
  int index_of(double value) const;
  double value_of(int index) const;

  double error_, log_g_;
  int lowest_ = 0;                           // index of counts_[0]
  std::vector<uint64_t> counts_;             // spans the indices seen
  uint64_t zeros_ = 0, count_ = 0;
  double sum_ = 0, max_ = 0;
};

}  // namespace hyperloom

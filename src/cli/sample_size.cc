#include "cli/sample_size.h"

#include <cmath>

namespace hyperloom {
namespace {

// From so many samples on, the percentile is no longer their maximum.
int samples_for(double percentile) { return static_cast<int>(std::ceil(100 / (100 - percentile) - 1e-9)); }

int count_of(const LoadSummary& s, const std::string& metric) {
  return (metric == "ttft" ? s.ttft_ms : metric == "tpot" ? s.tpot_ms : metric == "itl" ? s.itl_ms : s.e2e_ms).count;
}

}  // namespace

std::vector<std::string> sample_size_warnings(const LoadSummary& summary, const std::vector<Limit>& limits) {
  std::vector<std::string> warnings;
  bool p99_said = false;
  const auto warn = [&](const std::string& metric, double percentile) {
    const int need = samples_for(percentile), have = count_of(summary, metric);
    if (have == 0 || have >= need) return;
    p99_said |= percentile == 99;
    const std::string p = "p" + std::to_string(std::lround(percentile));
    warnings.push_back("too few samples for " + metric + " " + p + ": of " + std::to_string(have) + " it is simply the largest; measure " +
                       std::to_string(need + need / 5) + " requests or more");
  };
  for (const Limit& limit : limits) warn(limit.metric, limit.percentile);
  if (!p99_said) warn("e2e", 99);
  return warnings;
}

}  // namespace hyperloom

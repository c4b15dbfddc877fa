// One look of the comparison, the latency guard and the claim. The names follow the published
// procedure (docs/measurement.md), so that each line can be held against it.
#include "stats/sequential.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "stats/quantile.h"

namespace hyperloom {
namespace {

constexpr double kLeastSd = 0.0005;  // of a pair difference: quantised metrics
constexpr double kNoisier = 2.0;     // own sd over pool sd from which the pool is no guide
constexpr int kOwnPairs = 4;         // ... and the pairs that it takes to say so
constexpr double kKappa = 1.5;
constexpr double kSpentAlpha = 2.0 / 3;  // of the declared alpha; the rest pays for noisier candidates

// Calibrates the rising boundary to what the pool can be trusted for; below 3 df nothing can be
// kept.
double kappa(int df) { return df < 3 ? 0 : df < 5 ? 0.5 : df < 8 ? 0.85 : kKappa; }

// alpha spent up to look n rises with n-1: no keep on one pair, most power where most comparisons
// decide.
double boundary(double kap, double alpha, int n, int max_pairs) {
  return kap * alpha * (n - 1) / (0.5 * max_pairs * (max_pairs - 1));
}

// The pooled t statistic of the clamped differences.
struct PooledT {
  double clip_limit = 0, mean = 0, s = 0, nu = 0, p = 1, s_own_over_pool = 0;
  double nu0 = 0, kap = 0;
};

PooledT pooled_t(const NoisePool& pool, const std::vector<double>& differences, double clip,
                 int df_cap) {
  if (pool.df() < 1)
    throw internal_error("comparison without a noise pool: measure stock legs first");
  PooledT t;
  const double n = static_cast<double>(differences.size());
  t.clip_limit = pool.clip_limit(clip);
  const auto clamp = [&](double value) { return std::clamp(value, -t.clip_limit, t.clip_limit); };
  double v0 = 0, squares = 0;
  const std::vector<double> values = pool.values();
  for (double c : values) v0 += clamp(c) * clamp(c);
  v0 /= static_cast<double>(values.size());
  for (double d : differences) {
    if (!std::isfinite(d))
      throw internal_error("a pair's log ratio is not finite: was a throughput 0?");
    t.mean += clamp(d) / n;
  }
  for (double d : differences) squares += (clamp(d) - t.mean) * (clamp(d) - t.mean);
  const double s_pool = std::max(std::sqrt(v0), kLeastSd);
  t.s_own_over_pool = n < 2 ? 0 : std::sqrt(squares / (n - 1)) / s_pool;
  t.nu0 = std::min(pool.df(), df_cap);
  t.kap = kappa(pool.df());
  // A candidate far noisier than the pool is judged by its own noise alone: the pool would keep it
  // by luck.
  if (n >= kOwnPairs && t.s_own_over_pool > kNoisier && t.kap > 0) t.nu0 = 0, t.kap = kKappa;
  t.nu = t.nu0 + n - 1;
  t.s = std::max(std::sqrt((t.nu0 * v0 + squares) / t.nu), kLeastSd);
  t.p = student_t_upper_tail(t.mean * std::sqrt(n) / t.s, t.nu);
  return t;
}

void check_plan(int n, int max_pairs, int min_pairs) {
  if (max_pairs < 2 || min_pairs < 2 || min_pairs > max_pairs)
    throw internal_error("test plan needs 2 <= min_pairs <= max_pairs");
  if (n > max_pairs) throw internal_error("more pairs than the plan's cap: open a new comparison");
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Continue:
      return "continue";
    case Verdict::Faster:
      return "faster";
    case Verdict::NotUseful:
      return "not_useful";
    case Verdict::Unresolvable:
      return "unresolvable";
  }
  return "continue";
}

double alpha_per_comparison(double alpha, int comparisons) {
  if (!(alpha > 0 && alpha < 1) || comparisons < 1)
    throw internal_error("alpha lies between 0 and 1, and is shared by at least 1 comparison");
  return kSpentAlpha * alpha / comparisons;
}

Look look(const NoisePool& pool, const std::vector<double>& differences, const TestPlan& plan) {
  Look result;
  const int n = result.n = static_cast<int>(differences.size());
  const int cap = plan.max_pairs;
  check_plan(n, cap, plan.min_pairs);
  if (n == 0) return result;
  const PooledT t = pooled_t(pool, differences, plan.clip, plan.df_cap);
  result.clip_limit = t.clip_limit, result.mean = t.mean, result.s = t.s, result.nu = t.nu,
  result.p = t.p;
  result.s_own_over_pool = t.s_own_over_pool;
  result.bound = boundary(t.kap, plan.alpha_k, n, cap);
  result.raw = mean(differences);
  result.upper = result.raw + student_t_upper_quantile(0.05, t.nu) * t.s / std::sqrt(n);
  if (n < cap && t.kap > 0) {
    // Chance that the clamped mean reaches the last boundary by the cap, flat prior.
    const double b =
        student_t_upper_quantile(boundary(t.kap, plan.alpha_k, cap, cap), t.nu0 + cap - 1);
    result.chance =
        normal_cdf((t.mean - b * t.s / std::sqrt(cap)) / (t.s * std::sqrt(1.0 / n - 1.0 / cap)));
  }
  if (n >= plan.min_pairs && result.p <= result.bound && result.raw >= plan.useful_gain)
    result.verdict = Verdict::Faster;
  else if (n >= cap || result.chance < plan.futility)
    result.verdict = result.upper < plan.useful_gain ? Verdict::NotUseful : Verdict::Unresolvable;
  return result;
}

Look deciding_look(const NoisePool& pool, const std::vector<double>& differences,
                   const TestPlan& plan) {
  const Look last = look(pool, differences, plan);
  if (last.raw < plan.useful_gain) return last;
  for (auto end = differences.begin(); end != differences.end(); ++end)
    if (const Look earlier = look(pool, {differences.begin(), end}, plan);
        earlier.verdict == Verdict::Faster)
      return earlier;
  return last;
}

GuardResult latency_guard(const NoisePool& pool, const std::vector<double>& worse, double margin,
                          int max_pairs, double alpha) {
  GuardResult result;
  const int n = static_cast<int>(worse.size());
  check_plan(n, max_pairs, 2);
  if (n == 0) return result;
  // Measured from the margin, so that the clamp is symmetric where the guard must not pass by luck.
  std::vector<double> room(worse.size());
  std::transform(worse.begin(), worse.end(), room.begin(), [&](double w) { return margin - w; });
  const PooledT t = pooled_t(pool, room, TestPlan{}.clip, TestPlan{}.df_cap);
  result.mean = mean(worse);
  result.p = t.p;
  result.bound = boundary(t.kap, alpha, n, max_pairs);
  result.pass = result.p <= result.bound;
  return result;
}

Interval claim_interval(const std::vector<double>& differences, double level) {
  if (differences.size() < 2) throw internal_error("an interval needs at least 2 pairs");
  if (!(level > 0 && level < 1)) throw internal_error("an interval's level lies between 0 and 1");
  Interval result;
  result.n = static_cast<int>(differences.size());
  result.mean = mean(differences);
  result.sd = sample_sd(differences);
  const double half =
      student_t_upper_quantile((1 - level) / 2, result.n - 1) * result.sd / std::sqrt(result.n);
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

int pairs_needed(double gain, double pair_sd) {
  // Gain in pair sd from which 97 % (96.5 at least) of comparisons are kept after that many pairs (8 df pool,
  // alpha_k of alpha 0.05 and 20 comparisons). Never below 5: the clamp holds large effects back on purpose.
  static constexpr struct {
    double least;
    int pairs;
  } kTable[] = {{3.5, 5}, {2.9, 6}, {2.5, 7}, {2.3, 8}, {2.2, 9}, {2.0, 10}};
  const double ratio = gain / std::max(pair_sd, kLeastSd);
  for (const auto& row : kTable)
    if (ratio >= row.least - 1e-9) return row.pairs;
  return 0;
}

bool a_goes_first(const std::string& seed, const std::string& comparison, int pair_index) {
  const std::string block = std::to_string(pair_index / 2);
  const bool abba = seed_from(seed + "\n" + comparison + "\n" + block) & 1;
  return (pair_index % 2 == 0) == abba;
}

}  // namespace hyperloom

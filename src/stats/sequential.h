// "B is faster than A" from 3 to 10 pairs of boots: winsorised, pooled, group-sequential t-test.
// Formulas and constants: docs/measurement.md (research: statistics.md section 1). Inputs here are natural-log
// ratios (0.01 = 1 %); positive = B better.
#pragma once

#include <string>
#include <vector>

namespace hyperloom {

double student_t_upper_tail(double t, double nu);        // P(T_nu > t)
double student_t_upper_quantile(double p, double nu);    // t with P(T_nu > t) = p
double normal_cdf(double z);
double median(std::vector<double> values);

// Noise of one pair difference, this session, this host. Values each have the variance of a pair difference.
class NoisePool {
 public:
  void add_stock_legs(const std::vector<double>& log_values);      // df += L-1
  void add_null_pairs(const std::vector<double>& differences);     // A/A; df += count
  void add_comparison(const std::vector<double>& differences);     // after its verdict; n >= 2; df += n-1
  // A/A pairs of an earlier day, same host, model and traffic: the first kMostEarlier of them count, 1 df each, from the
  // pool's first own df until it has kOwnIsEnough. Scaled up where they are quieter than the pool's own values: a host
  // may have become noisier since, and a pool that is too quiet keeps by luck. Values that are not finite are left out.
  void start_with(const std::vector<double>& earlier_differences);
  static constexpr int kMostEarlier = 4, kOwnIsEnough = 5;
  double pair_sd() const;                                          // rms of the clamped values; 0 when empty
  // Clamp for pool and candidate alike: clip robust standard deviations, at least 0.15 %.
  double clip_limit(double clip = 3.0) const;
  int df() const;
  std::vector<double> values() const;

 private:
  bool earlier_count() const { return df_ >= 1 && df_ < kOwnIsEnough && !earlier_.empty(); }
  std::vector<double> values_, earlier_;
  int df_ = 0;
};

enum class Verdict { Continue, Faster, NotUseful, Unresolvable };
const char* name_of(Verdict verdict);                    // "continue", "faster", "not_useful", "unresolvable"

// The alpha_k of one of the comparisons that a session declared: two thirds of alpha, shared evenly. The last third pays
// for candidates up to three times as noisy as the pool: with all of alpha, 5.6 % of sessions of such candidates kept one
// falsely; so, 4.4 % (docs/measurement.md).
double alpha_per_comparison(double alpha, int comparisons);

struct TestPlan {
  double alpha_k = 0.0025;        // chance of a false keep in this comparison
  int max_pairs = 10, min_pairs = 3;
  double useful_gain = 0.005;     // log ratio
  double futility = 0.05;         // stop when the chance to keep falls below
  double clip = 3.0;
  int df_cap = 8;
};

struct Look {
  int n = 0;
  double clip_limit = 0, s = 0, nu = 0, mean = 0, raw = 0, p = 1, bound = 0, chance = 0, upper = 0;
  double s_own_over_pool = 0;     // above 2 with n >= 4 the look decided by its own t
  Verdict verdict = Verdict::Continue;
};

// The decision after pair n. Error(Internal) when the pool has no df, a difference is not finite, or n is over the
// plan's cap: each would void the false-keep rate.
Look look(const NoisePool& pool, const std::vector<double>& differences, const TestPlan& plan);

// The look that a comparison of these pairs stands on: the first that said faster, else the last. A comparison that goes on
// for another reason than its own verdict (a latency guard that wants more pairs) crossed the boundary once and for all,
// as long as the plain mean of all pairs is still a useful gain.
Look deciding_look(const NoisePool& pool, const std::vector<double>& differences, const TestPlan& plan);

// One-sided non-inferiority on the pairs of a kept comparison: passes when the mean of `worse` (log ratio, + =
// worse) is proven below `margin` by the rising boundary (section 8).
struct GuardResult { bool pass = false; double mean = 0, p = 1, bound = 0; };
GuardResult latency_guard(const NoisePool& pool, const std::vector<double>& worse, double margin, int max_pairs = 10, double alpha = 0.05);

// Own-t interval of fresh pairs: no clamp, no pool. Error(Internal) below 2 pairs. Fewer than kLeastClaimPairs claim nothing.
inline constexpr int kLeastClaimPairs = 5;
struct Interval { double mean = 0, low = 0, high = 0, sd = 0; int n = 0; };
Interval claim_interval(const std::vector<double>& differences, double level = 0.95);

// Pairs after which 97 % of comparisons with a true effect of `gain` (log ratio) have ended in a keep, or 0 when the
// cap of 10 does not do (a gain below 2 pair sd). bench_false_keeps simulates it.
int pairs_needed(double gain, double pair_sd);

// ABBA or BAAB blocks of two pairs by a coin drawn from (seed, comparison, block). True = A first.
bool a_goes_first(const std::string& seed, const std::string& comparison, int pair_index);

}  // namespace hyperloom

#include "null_session.h"

#include <cmath>

#include "stats/quantile.h"
#include "stats/sequential.h"

namespace hyperloom {
namespace {

constexpr int kPlainPairs = 5, kPoolPairs = 8;

// A leg's value; one that the sentinel voids is run again.
double value_of(const LegSource& leg, double noisier, int& legs) {
  for (;;) {
    ++legs;
    if (const auto value = leg(noisier)) return *value / 100;
  }
}

// Two legs back to back as a log ratio; a voided leg voids and repeats its pair (L8).
double run_pair(const LegSource& leg, double noisier, bool a_first, int& legs, double effect = 0) {
  for (;;) {
    legs += 2;
    const auto first = leg(a_first ? 1 : noisier), second = leg(a_first ? noisier : 1);
    if (first && second) return (a_first ? *second - *first : *first - *second) / 100 + effect;
  }
}

template <class NextPair>
Look decide(NoisePool& pool, const TestPlan& plan, std::vector<double>& differences, NextPair next) {
  Look now;
  while (now.verdict == Verdict::Continue) {
    differences.push_back(next(static_cast<int>(differences.size())));
    now = look(pool, differences, plan);
  }
  return now;
}

bool plain_t_keeps(const std::vector<double>& d) {
  const double n = static_cast<double>(d.size());
  return student_t_upper_tail(mean(d) * std::sqrt(n) / sample_sd(d), n - 1) <= 0.05;
}

double bar_of(Rule rule) { return rule == Rule::OneLeg1 ? 0.01 : 0.0028; }

double noise_factor(const NoiseShape& shape, Rng& rng) { return shape.candidate_noise ? shape.candidate_noise(rng) : 1; }

SessionCount one_leg_session(double bar, const NoiseShape& shape, Rng& rng) {
  SessionCount count;
  const LegSource leg = shape.start_session(rng);
  double best = value_of(leg, 1, count.legs);
  for (int k = 0; k < kComparisons; ++k) {
    const double value = value_of(leg, noise_factor(shape, rng), count.legs);
    if (value - best <= bar) continue;
    ++count.keeps;
    best = value;
  }
  return count;
}

SessionCount plain_t_session(const NoiseShape& shape, const std::string& seed, Rng& rng) {
  SessionCount count;
  const LegSource leg = shape.start_session(rng);
  for (int k = 0; k < kComparisons; ++k) {
    const double noisier = noise_factor(shape, rng);
    std::vector<double> d;
    for (int i = 0; i < kPlainPairs; ++i) d.push_back(run_pair(leg, noisier, a_goes_first(seed, std::to_string(k), i), count.legs));
    count.keeps += plain_t_keeps(d);
  }
  return count;
}

SessionCount our_session(const NoiseShape& shape, const std::string& seed, Rng& rng) {
  SessionCount count;
  const LegSource leg = shape.start_session(rng);
  std::vector<double> stock;
  for (int i = 0; i < kStockLegs; ++i) stock.push_back(value_of(leg, 1, count.legs));
  NoisePool pool;
  pool.add_stock_legs(stock);
  const TestPlan plan{.alpha_k = alpha_per_comparison(kAlpha, kComparisons)};
  for (int k = 0; k < kComparisons; ++k) {
    const double noisier = noise_factor(shape, rng);
    std::vector<double> differences;
    const auto next = [&](int i) { return run_pair(leg, noisier, a_goes_first(seed, std::to_string(k), i), count.legs); };
    count.keeps += decide(pool, plan, differences, next).verdict == Verdict::Faster;
    pool.add_comparison(differences);
  }
  return count;
}

}  // namespace

const char* name_of(Rule rule) {
  constexpr const char* kNames[] = {"hyperloom", "one leg, bar 1 %", "one leg, bar 0.28 %", "five pairs, plain t"};
  return kNames[static_cast<int>(rule)];
}

SessionCount run_null_session(Rule rule, const NoiseShape& shape, const std::string& seed, Rng& rng) {
  if (rule == Rule::Ours) return our_session(shape, seed, rng);
  if (rule == Rule::FivePairsT) return plain_t_session(shape, seed, rng);
  return one_leg_session(bar_of(rule), shape, rng);
}

Decision run_comparison(Rule rule, double effect, Rng& rng) {
  const LegSource leg = gauss_legs(rng, 1);
  int legs = 0;
  const auto next = [&](int) { return run_pair(leg, 1, true, legs, effect / 100); };
  if (rule == Rule::OneLeg1 || rule == Rule::OneLeg028) return {next(0) > bar_of(rule), 1};
  std::vector<double> differences;
  if (rule == Rule::FivePairsT) {
    for (int i = 0; i < kPlainPairs; ++i) differences.push_back(next(i));
    return {plain_t_keeps(differences), kPlainPairs};
  }
  NoisePool pool;
  std::vector<double> null_pairs;
  for (int i = 0; i < kPoolPairs; ++i) null_pairs.push_back(run_pair(leg, 1, true, legs));
  pool.add_null_pairs(null_pairs);
  const Look last = decide(pool, {.alpha_k = alpha_per_comparison(kAlpha, kComparisons)}, differences, next);
  return {last.verdict == Verdict::Faster, last.n};
}

bool interval_covers(const NoiseShape& shape, const std::string& seed, Rng& rng) {
  const LegSource leg = shape.start_session(rng);
  const double noisier = noise_factor(shape, rng);
  int legs = 0;
  std::vector<double> differences;
  for (int i = 0; i < kLeastClaimPairs; ++i) differences.push_back(run_pair(leg, noisier, a_goes_first(seed, "claim", i), legs));
  const Interval interval = claim_interval(differences);
  return interval.low <= 0 && 0 <= interval.high;
}

}  // namespace hyperloom

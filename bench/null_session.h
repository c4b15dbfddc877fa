// Sessions and comparisons on simulated legs, under our rule and under those of others. Percent of log throughput.
#pragma once

#include <string>
#include <vector>

#include "leg_noise.h"

namespace hyperloom {

enum class Rule {
  Ours,         // the code that real sessions run: look(), NoisePool, a_goes_first()
  OneLeg1,      // one leg a candidate, kept when 1 % above the best leg so far (published: bar of the first cycle)
  OneLeg028,    // the same with the bar of the fifth cycle, 0.28 %
  FivePairsT    // five pairs, one-sided t-test at 0.05, no correction for the number of candidates
};
inline constexpr Rule kRules[] = {Rule::Ours, Rule::OneLeg1, Rule::OneLeg028, Rule::FivePairsT};
const char* name_of(Rule rule);

inline constexpr int kComparisons = 20, kStockLegs = 6;
inline constexpr double kAlpha = 0.05;

struct SessionCount { int keeps = 0, legs = 0; };
// A session of kComparisons candidates that do not differ from stock: every keep is false.
SessionCount run_null_session(Rule rule, const NoiseShape& shape, const std::string& seed, Rng& rng);

struct Decision { bool kept = false; int pairs = 0; };
// One comparison of a candidate that is faster by `effect` pair standard deviations; normal noise of pair sd 1 %, a pool of 8 null pairs.
Decision run_comparison(Rule rule, double effect, Rng& rng);

// Does the claim's interval of five fresh pairs hold the truth (no effect)?
bool interval_covers(const NoiseShape& shape, const std::string& seed, Rng& rng);

}  // namespace hyperloom

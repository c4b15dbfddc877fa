#include "policy/limits.h"

#include <cmath>
#include <cstdio>

#include "load/metrics.h"
#include "stats/quantile.h"

namespace hyperloom {
namespace {

std::string name_of_limit(const Limit& limit) {
  char text[96];
  std::snprintf(text, sizeof text, "%s p%g <= %g ms", limit.metric.c_str(), limit.percentile, limit.max_ms);
  return text;
}

std::vector<double> logs_of(const std::vector<const LegRecord*>& legs, const Limit& limit) {
  std::vector<double> out;
  for (const LegRecord* leg : legs)
    if (double ms = limit_value_ms(leg->done->result->load, limit); ms > 0) out.push_back(std::log(ms));
  return out;
}

// The limit's metric over a comparison's pairs: log(B / A), and log(A). Pairs in which either leg lacks it are left out.
struct LimitPairs { std::vector<double> worse, incumbent; };
LimitPairs limit_pairs(const SessionState& s, const Comparison& c, const Limit& limit) {
  LimitPairs out;
  for (const PairDone& pair : c.pairs) {
    double a = limit_value_ms(s.leg(pair.leg_a)->done->result->load, limit);
    double b = limit_value_ms(s.leg(pair.leg_b)->done->result->load, limit);
    if (a <= 0 || b <= 0) continue;
    out.worse.push_back(std::log(b / a));
    out.incumbent.push_back(std::log(a));
  }
  return out;
}

NoisePool limit_pool(const SessionState& s, const Comparison& c, const Limit& limit) {
  NoisePool pool;
  pool.add_stock_legs(logs_of(s.good_legs("stock"), limit));
  for (const Comparison* earlier : s.decided_before(c.intent.id)) pool.add_comparison(limit_pairs(s, *earlier, limit).worse);
  return pool;
}

}  // namespace

LimitGuards guard_limits(const SessionState& s, const Comparison& c, const TestPlan& plan) {
  LimitGuards guards;
  const size_t least_pairs = static_cast<size_t>(plan.min_pairs);
  for (const Limit& limit : s.workload.objective.limits) {
    const LimitPairs pairs = limit_pairs(s, c, limit);
    const NoisePool pool = limit_pool(s, c, limit);
    if (pairs.worse.size() < 2 || pool.df() < 1) {
      guards.all_pass = false;
      guards.lines.push_back(name_of_limit(limit) + (pool.df() < 1 ? ": unproven, no stock legs to know its noise by" : ": unproven, too few pairs"));
      continue;
    }
    const double margin = std::log(limit.max_ms) - mean(pairs.incumbent);
    const bool missed = margin < 0;
    GuardResult result = latency_guard(pool, pairs.worse, margin, plan.max_pairs, missed ? plan.alpha_k : 0.05);
    if (missed) {
      guards.may_rescue = true;
      result.pass = result.pass && pairs.worse.size() >= least_pairs;
    }
    guards.all_pass = guards.all_pass && result.pass;
    char text[160];
    std::snprintf(text, sizeof text, ": %s, candidate about %.0f ms", result.pass ? "proven" : "unproven",
                  std::exp(mean(pairs.incumbent) + result.mean));
    guards.lines.push_back(name_of_limit(limit) + text);
  }
  guards.rescues = guards.may_rescue && guards.all_pass;
  return guards;
}

bool meets_limits(const Objective& objective, const std::vector<const LegRecord*>& legs) {
  for (const Limit& limit : objective.limits) {
    std::vector<double> logs = logs_of(legs, limit);
    if (logs.empty() || mean(logs) > std::log(limit.max_ms)) return false;
  }
  return true;
}

bool proven_within_limits(const Objective& objective, const std::vector<const LegRecord*>& legs) {
  for (const Limit& limit : objective.limits) {
    std::vector<double> logs = logs_of(legs, limit);
    if (logs.size() < 2 || claim_interval(logs, 0.9).high > std::log(limit.max_ms)) return false;   // 90 % two-sided
  }
  return true;
}

}  // namespace hyperloom

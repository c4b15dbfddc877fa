#include "session/budget.h"

#include <algorithm>
#include <cmath>

namespace hyperloom {
namespace {

constexpr size_t kRecent = 8;
constexpr double kQualityGuess_s = 60;

}  // namespace

double leg_cost_s(const SessionState& s) {
  double sum = 0, enable = 0;
  size_t n = 0;
  for (auto leg = s.legs.rbegin(); leg != s.legs.rend() && n < kRecent; ++leg) {
    if (!leg->good()) continue;
    const std::string& purpose = leg->plan.purpose;
    if (purpose == "enable") enable = std::max(enable, leg->done->cost_s);
    if (purpose != "stock" && purpose != "pair" && purpose != "final") continue;
    sum += leg->done->cost_s;
    n++;
  }
  return n ? sum / static_cast<double>(n) : enable;
}

double pair_cost_s(const SessionState& s) { return 2 * leg_cost_s(s); }

double quality_cost_s(const SessionState& s) {
  for (auto c = s.comparisons.rbegin(); c != s.comparisons.rend(); ++c)
    if (c->quality && c->quality->report.kl_done) return c->quality->report.cost_s;
  return std::min(kQualityGuess_s, s.workload.time_s / 10);
}

int final_pairs_wanted(const SessionState& s) {
  constexpr int kPairs = 5, kSmallGainPairs = 8;
  if (s.kept_items.empty()) return kPairs;
  double best = 0;
  for (const Comparison& c : s.comparisons)
    if (c.decided && c.critic && c.critic->sign) best += c.decided->look.raw;
  return best < 2 * s.pool.pair_sd() ? kSmallGainPairs : kPairs;
}

int stock_legs_wanted(const SessionState& s) { return s.workload.time_s >= 900 ? 6 : 4; }

double close_reserve_s(const SessionState& s) {
  double pairs = std::max(0, final_pairs_wanted(s) - static_cast<int>(s.final_pairs.size()));
  double ablations = std::max<double>(1, static_cast<double>(s.kept_items.size()));
  return (pairs + ablations) * pair_cost_s(s) + leg_cost_s(s) + 10;
}

double searchable_s(const SessionState& s) { return s.left_s() - close_reserve_s(s); }

double preparation_limit_s(const SessionState& s) {
  constexpr double kLeast_s = 30;
  const double comparison = 3 * pair_cost_s(s) + quality_cost_s(s);
  double limit = searchable_s(s) - comparison;
  if (s.first_gain_at_s < 0) limit = std::min(limit, s.workload.time_s / 4 - s.spent_s - comparison);
  return std::max(kLeast_s, limit);
}

double kernel_reserve_s(const SessionState& s) {
  constexpr double kShare = 0.2, kShortBuild_s = 60;
  const bool builds_follow = s.phase == "framework" && !s.kernel_asked && s.workload.engine_command.empty() && s.workload.may_touch("build", "build");
  const double reserve = kShare * s.workload.time_s;
  return builds_follow && reserve >= kShortBuild_s + 3 * pair_cost_s(s) + quality_cost_s(s) ? reserve : 0;
}

double least_budget_s(const SessionState& s) {
  return stock_legs_wanted(s) * leg_cost_s(s) + 3 * pair_cost_s(s) + quality_cost_s(s) + 6 * pair_cost_s(s) + leg_cost_s(s) + 10;
}

}  // namespace hyperloom

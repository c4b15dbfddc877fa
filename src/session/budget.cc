#include "session/budget.h"

#include <algorithm>
#include <cmath>

namespace hyperloom {
namespace {

constexpr size_t kRecent = 8;
constexpr double kQualityGuess_s = 60;
// An exam's tokens, about, and how many times a prompt token costs less than a generated one; part of it is asked alone.
constexpr double kExamOutput = 1600, kExamPrompt = 7700, kPromptEase = 8, kAlonePenalty = 1.5;
constexpr double kExamGuess_s = 60;

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

double exam_cost_s(const SessionState& s) {
  double sum = 0;
  int n = 0;
  for (const LegRecord& leg : s.legs)
    if (leg.sat() && leg.done->exam->whole()) sum += leg.done->cost_s, n++;
  if (n) return sum / n;
  const auto stock = s.good_legs("stock");
  if (stock.empty()) return kExamGuess_s;
  const LegResult& leg = *stock.back()->done->result;
  const double rate = leg.load.output_tok_s + std::max(0.0, leg.load.total_tok_s - leg.load.output_tok_s) / kPromptEase;
  return rate > 0 ? leg.boot_s + kAlonePenalty * (kExamOutput + kExamPrompt / kPromptEase) / rate : kExamGuess_s;
}

double exam_reserve_s(const SessionState& s) { return s.exam && s.exam->on ? exam_cost_s(s) : 0; }

double quality_cost_s(const SessionState& s) {
  const double exam_s = exam_reserve_s(s);
  for (auto c = s.comparisons.rbegin(); c != s.comparisons.rend(); ++c)
    if (c->quality && c->quality->report.kl_done) return exam_s + c->quality->report.cost_s;
  return exam_s + std::min(kQualityGuess_s, s.workload.time_s / 10);
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

#include "cli/noise_study.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "load/random.h"
#include "stats/quantile.h"

namespace hyperloom {
namespace {

constexpr int kPoolPairs = kNoisePoolPairs;

// Pairs from `next` until the test decides, or there are no more; the pool learns them.
Verdict null_comparison(NoisePool& pool, double alpha, const std::function<std::optional<double>()>& next, int& looks) {
  TestPlan plan;
  plan.alpha_k = alpha_per_comparison(alpha, 1);
  std::vector<double> pairs;
  Verdict verdict = Verdict::Continue;
  while (verdict == Verdict::Continue) {
    const std::optional<double> pair = next();
    if (!pair) return verdict;
    pairs.push_back(*pair);
    verdict = look(pool, pairs, plan).verdict;
    ++looks;
  }
  pool.add_comparison(pairs);
  return verdict;
}

std::string percent(double log_ratio) { return fmt::format("{:.2f} %", 100 * std::expm1(log_ratio)); }

std::string noise_lines(const NoiseStudy& s) {
  const Interval i = claim_interval(s.differences);
  NoisePool pool;
  pool.add_null_pairs(s.differences);
  return fmt::format("pair noise      {:.2f} % sd of a pair's ratio, {:.2f} % clamped as the test sees it ({} pairs)\n", 100 * i.sd,
                     100 * pool.pair_sd(), i.n) +
         fmt::format("A against A     {} [{}, {}]: {}\n", percent(i.mean), percent(i.low), percent(i.high),
                     i.low <= 0 && i.high >= 0 ? "no difference, as it should be" : "a difference where there is none; 1 such run in 20 is luck");
}

std::string boot_lines(const NoiseStudy& s, uint64_t seed) {
  std::vector<double> values;
  for (const AaLeg& leg : s.legs) values.push_back(leg.log_value);
  const Drift drift = drift_of(values);
  std::string text = fmt::format("drift           {:+.3f} % a leg [{:+.3f}, {:+.3f}] (t {:.1f}): {}\n", 100 * drift.per_leg, 100 * drift.low,
                                 100 * drift.high, drift.t,
                                 drift.seen() ? "the host gets steadily slower or faster; pairs cancel most of it" : "none to be seen");
  const Kinds kinds = kinds_of(values);
  const std::string proof = fmt::format("widest gap {:.1f} sd; boots of one kind show such a gap in {:.1f} % of runs of {}", kinds.gap_in_sd,
                                        100 * chance_of_gap(static_cast<int>(values.size()), kinds.gap_in_sd, seed), values.size());
  if (kinds.two())
    text += fmt::format("boots           two kinds: {} slow and {} fast, {} apart ({}). Memory or thread placement differs from boot to boot\n",
                        kinds.slow, kinds.fast, percent(kinds.gap_log), proof);
  else
    text += fmt::format("boots           of one kind ({}; two kinds from {:.1f} sd)\n", proof, Kinds::kTwo);
  return text;
}

std::string void_lines(const NoiseStudy& s) {
  const size_t all = s.legs.size() + s.voids.size() + s.failures.size();
  std::string text = fmt::format("void legs       {} of {}\n", s.voids.size(), all);
  std::map<std::string, int> reasons;
  for (const AaVoid& v : s.voids) ++reasons[v.reason.substr(0, v.reason.find_first_of("0123456789"))];
  for (const auto& [reason, count] : reasons) {
    const auto example = std::find_if(s.voids.begin(), s.voids.end(), [&, start = reason](const AaVoid& v) { return v.reason.rfind(start, 0) == 0; });
    text += fmt::format("                {} x {}\n", count, example->reason);
  }
  if (!s.failures.empty()) text += fmt::format("failed legs     {} of {}, the last: {}\n", s.failures.size(), all, s.failures.back());
  return text;
}

std::string share_text(const Share& share) {
  return fmt::format("{} of {} = {:.2f} % [{:.2f}, {:.2f}]", share.hits, share.of, 100 * share.value(), 100 * share.low, 100 * share.high);
}

std::string needed_lines(double pair_sd) {
  std::string text = "pairs needed   ";
  for (const int gain : {1, 2, 3, 5}) {
    const int pairs = pairs_needed(std::log1p(gain / 100.0), pair_sd);
    text += fmt::format(" {} %: {}{}", gain, pairs > 0 ? std::to_string(pairs) : "more than 10", gain == 5 ? "\n" : ",");
  }
  return text;
}

}  // namespace

Kinds kinds_of(std::vector<double> values) {
  Kinds kinds;
  constexpr size_t kSide = 2;
  const double sd = sample_sd(values);
  if (values.size() < 2 * kSide || !(sd > 0)) return kinds;
  std::sort(values.begin(), values.end());
  for (size_t i = kSide; i + kSide <= values.size(); ++i) {
    const double gap = values[i] - values[i - 1];
    if (gap <= kinds.gap_log) continue;
    kinds.gap_log = gap;
    kinds.slow = static_cast<int>(i);
  }
  kinds.fast = static_cast<int>(values.size()) - kinds.slow;
  kinds.gap_in_sd = kinds.gap_log / sd;
  return kinds;
}

double chance_of_gap(int n, double gap_in_sd, uint64_t seed, int draws) {
  Random random(seed);
  int reached = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> values(static_cast<size_t>(std::max(0, n)));
    std::generate(values.begin(), values.end(), [&] { return random.normal(); });
    reached += kinds_of(std::move(values)).gap_in_sd >= gap_in_sd;
  }
  return draws > 0 ? static_cast<double>(reached) / draws : 1;
}

Drift drift_of(const std::vector<double>& values) {
  constexpr double kLevel = 0.95;
  Drift drift{.per_leg = slope(values), .t = slope_t(values)};
  drift.low = -std::numeric_limits<double>::infinity();
  drift.high = std::numeric_limits<double>::infinity();
  const size_t n = values.size();
  if (n < 3) return drift;
  const double middle = (static_cast<double>(n) - 1) / 2, centre = mean(values);
  double xx = 0, rest = 0;
  for (size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - middle, off = values[i] - centre - drift.per_leg * x;
    xx += x * x;
    rest += off * off;
  }
  const double df = static_cast<double>(n) - 2;
  const double half = student_t_upper_quantile((1 - kLevel) / 2, df) * std::sqrt(rest / df / xx);
  drift.low = drift.per_leg - half;
  drift.high = drift.per_leg + half;
  return drift;
}

double slope(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  if (n < 2) return 0;
  const double middle = (n - 1) / 2, centre = mean(values);
  double xy = 0, xx = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    xy += x * (values[i] - centre);
    xx += x * x;
  }
  return xy / xx;
}

FalseKeeps resample_sessions(const std::vector<double>& differences, int sessions, double alpha, int comparisons, int pool_pairs,
                             uint64_t seed) {
  if (differences.empty()) throw internal_error("resampling without measured differences");
  Random random(seed);
  const auto draw = [&] {
    const double d = differences[random.below(differences.size())];
    return random.below(2) ? d : -d;
  };
  FalseKeeps result;
  int fooled = 0, kept = 0;
  for (int session = 0; session < sessions; ++session) {
    std::vector<double> nulls(static_cast<size_t>(pool_pairs));
    std::generate(nulls.begin(), nulls.end(), draw);
    NoisePool pool;
    pool.add_null_pairs(nulls);
    bool any = false;
    for (int comparison = 0; comparison < comparisons; ++comparison) {
      const bool faster = null_comparison(pool, alpha / comparisons, draw, result.looks) == Verdict::Faster;
      any |= faster;
      kept += faster;
    }
    fooled += any;
  }
  result.sessions = wilson(fooled, sessions);
  result.comparisons = wilson(kept, sessions * comparisons);
  return result;
}

Walked walk_session(const std::vector<double>& differences, double alpha, int comparisons, int pool_pairs) {
  Walked walked;
  const size_t start = static_cast<size_t>(pool_pairs);
  if (differences.size() <= start) return walked;
  NoisePool pool;
  pool.add_null_pairs({differences.begin(), differences.begin() + pool_pairs});
  size_t at = start;
  int looks = 0;
  const auto next = [&]() -> std::optional<double> {
    if (at == differences.size()) return std::nullopt;
    return differences[at++];
  };
  while (at < differences.size()) {
    const Verdict verdict = null_comparison(pool, alpha / comparisons, next, looks);
    walked.comparisons += verdict != Verdict::Continue;
    walked.kept += verdict == Verdict::Faster;
  }
  return walked;
}

std::string to_json_lines(const NoiseStudy& s) {
  std::string lines;
  for (size_t i = 0; i < s.legs.size(); ++i) {
    const AaLeg& leg = s.legs[i];
    Json line = {{"pair", i / 2 + 1}, {"log_value", leg.log_value}, {"requests", leg.requests}, {"window_s", leg.window_s},
                 {"foreign_cpu", leg.foreign_cpu}, {"steal", leg.steal}};
    if (leg.seen.seconds > 0) line["neighbours"] = leg.seen;
    lines += line.dump() + "\n";
  }
  return lines;
}

std::string to_text(const NoiseStudy& s, double alpha, int comparisons, uint64_t seed, int sessions) {
  std::string text;
  if (s.differences.size() >= 2) text += noise_lines(s);
  if (s.legs.size() >= 4) text += boot_lines(s, seed);
  text += void_lines(s);
  if (s.differences.size() < 2) return text + "too few pairs for anything else\n";
  const FalseKeeps keeps = resample_sessions(s.differences, sessions, alpha, comparisons, kPoolPairs, seed);
  text += fmt::format("false keeps     sessions of {} null comparisons in which one would be kept: {}; promised: {:g} %\n", comparisons,
                      share_text(keeps.sessions), 100 * alpha);
  text += fmt::format("                comparisons: {}; {} looks at resampled pairs of this run, so it knows its size and shape\n",
                      share_text(keeps.comparisons), keeps.looks);
  text += "                and not what this host does at other hours\n";
  if (const Walked walked = walk_session(s.differences, alpha, comparisons, kPoolPairs); walked.comparisons > 0)
    text += fmt::format("                as they came: {} comparisons decided on fresh pairs each, {} kept\n", walked.comparisons, walked.kept);
  NoisePool pool;
  pool.add_null_pairs(s.differences);
  text += needed_lines(pool.pair_sd());
  for (const std::string& line : advice(s)) text += "to change       " + line + "\n";
  return text;
}

}  // namespace hyperloom

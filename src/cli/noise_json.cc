// The study as JSON: the figures of the text, unrounded. Absent = could not be told from so few legs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/noise_study.h"
#include "stats/quantile.h"

namespace hyperloom {
namespace {

Json share_json(const Share& share) {
  return {{"hits", share.hits}, {"of", share.of}, {"rate", share.value()}, {"low", share.low}, {"high", share.high}};
}

}  // namespace

Json to_json_value(const NoiseStudy& s, double alpha, int comparisons, uint64_t seed, int sessions) {
  Json json = {{"schema", 1}, {"pairs", s.differences.size()}, {"legs", Json::array()}, {"void_legs", Json::array()}, {"failed_legs", s.failures},
               {"advice", advice(s)}, {"alpha", alpha}, {"comparisons", comparisons}};
  std::vector<double> values;
  for (const AaLeg& leg : s.legs) {
    values.push_back(leg.log_value);
    Json line = {{"log_value", leg.log_value}, {"requests", leg.requests}, {"window_s", leg.window_s}};
    if (leg.seen.seconds > 0) line["neighbours"] = leg.seen;
    json["legs"].push_back(line);
  }
  for (const AaVoid& v : s.voids) {
    json["void_legs"].push_back({{"reason", v.reason}});
    if (v.seen.seconds > 0) json["void_legs"].back()["neighbours"] = v.seen;
  }
  if (!s.governor.empty()) json["governor"] = s.governor;
  if (values.size() >= 4) {
    const Drift drift = drift_of(values);
    json["drift_log_per_leg"] = {{"mean", drift.per_leg}, {"low", drift.low}, {"high", drift.high}, {"level", 0.95}};
    const Kinds kinds = kinds_of(values);
    json["boots"] = {{"kinds", kinds.two() ? 2 : 1}, {"statistic", "widest gap over sd"}, {"gap_in_sd", kinds.gap_in_sd}, {"gap_log", kinds.gap_log},
                     {"chance_if_one_kind", chance_of_gap(static_cast<int>(values.size()), kinds.gap_in_sd, seed)}};
    if (kinds.two()) json["boots"]["slow"] = kinds.slow, json["boots"]["fast"] = kinds.fast;
  }
  if (s.differences.size() < 2) return json;
  const Interval aa = claim_interval(s.differences);
  NoisePool pool;
  pool.add_null_pairs(s.differences);
  json["pair_sd_log"] = aa.sd;
  json["pair_sd_clamped_log"] = pool.pair_sd();
  json["a_against_a_log"] = {{"mean", aa.mean}, {"low", aa.low}, {"high", aa.high}, {"level", 0.95}};
  const FalseKeeps keeps = resample_sessions(s.differences, sessions, alpha, comparisons, kNoisePoolPairs, seed);
  json["false_keeps"] = {{"sessions", share_json(keeps.sessions)}, {"comparisons", share_json(keeps.comparisons)}, {"looks", keeps.looks}};
  const Walked walked = walk_session(s.differences, alpha, comparisons, kNoisePoolPairs);
  json["as_they_came"] = {{"comparisons", walked.comparisons}, {"kept", walked.kept}};
  for (const int gain : {1, 2, 3, 5})    // absent: more than 10
    if (const int pairs = pairs_needed(std::log1p(gain / 100.0), pool.pair_sd()); pairs > 0)
      json["pairs_needed"].push_back({{"gain", gain / 100.0}, {"pairs", pairs}});
  return json;
}

}  // namespace hyperloom

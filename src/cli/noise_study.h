// What A/A boots say of a host: noise, drift, kinds of boots, and how often the test would have been fooled. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "os/sentinel.h"
#include "stats/sequential.h"
#include "stats/share.h"

namespace hyperloom {

struct AaLeg {                         // in the order of boots
  double log_value = 0;
  int requests = 0;
  double window_s = 0, foreign_cpu = 0, steal = 0;
  Neighbours seen;                     // seconds 0 = not recorded
};
struct AaVoid {
  std::string reason;
  Neighbours seen;
};

// The two kinds into which boots fall, if they do: the widest gap between neighbours in order of value that leaves at
// least two legs on either side.
struct Kinds { double gap_log = 0, gap_in_sd = 0; int slow = 0, fast = 0; bool two() const { return gap_in_sd >= kTwo; }
  static constexpr double kTwo = 1.5; };
Kinds kinds_of(std::vector<double> log_values);
// How often `n` boots of one Gaussian kind show a gap of at least `gap_in_sd`: the statistic is the widest gap over the
// sample sd with two legs on either side (after Hartigan's single-linkage gaps, 1975), its distribution by simulation
// (a parametric bootstrap, Silverman 1981). Same seed, same answer.
double chance_of_gap(int n, double gap_in_sd, uint64_t seed, int draws = 2000);

// Least squares over the order of boots, per leg, with its 95 % interval (t, n - 2 df: as if boots were independent).
struct Drift { double per_leg = 0, low = 0, high = 0, t = 0; bool seen() const { return low > 0 || high < 0; } };
Drift drift_of(const std::vector<double>& log_values);
double slope(const std::vector<double>& values);       // least squares, per step; 0 below two

struct FalseKeeps { Share sessions, comparisons; int looks = 0; };
// Whole sessions of `comparisons` null comparisons at alpha / comparisons, on differences drawn from the measured ones
// with a coin for their sign; the pool starts with `pool_pairs` of them and grows as a session's does. Same seed, same
// answer. Error(Internal) without differences.
FalseKeeps resample_sessions(const std::vector<double>& differences, int sessions, double alpha, int comparisons, int pool_pairs,
                             uint64_t seed);

// One session's comparisons on the measured pairs as they came, each pair used once: the first `pool_pairs` make the
// pool, then the test runs on what follows until it decides, again and again. An unfinished last one is not counted.
struct Walked { int comparisons = 0, kept = 0; };
Walked walk_session(const std::vector<double>& differences, double alpha, int comparisons, int pool_pairs);

struct NoiseStudy {
  std::vector<AaLeg> legs;
  std::vector<double> differences;       // second label over first, per pair
  std::vector<AaVoid> voids;
  std::vector<std::string> failures;     // legs in which the engine failed, each as one line
  std::string governor;                  // "" = not told
  int cores = 0, numa_nodes = 1;
  bool pinned = false;                   // the engine may not use every core
  std::vector<std::string> busy_now;     // programs of others that use a core as we look, "cc1plus 0.98 cores"
};

// What to change on this host, one line each; empty = nothing that was seen. (noise_advice.cc)
std::vector<std::string> advice(const NoiseStudy& study);
// What --json prints. (noise_json.cc)
Json to_json_value(const NoiseStudy& study, double alpha, int comparisons, uint64_t seed, int sessions = 2000);
inline constexpr int kNoisePoolPairs = 6;   // of a simulated session: what its stock legs are worth
// One line a leg that counted, in the order of boots, two a pair: {"pair", "log_value", "requests", "window_s", "foreign_cpu", "steal"}.
std::string to_json_lines(const NoiseStudy& study);
// The findings and the advice, line by line.
std::string to_text(const NoiseStudy& study, double alpha, int comparisons, uint64_t seed, int sessions = 2000);

}  // namespace hyperloom

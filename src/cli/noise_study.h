// What A/A boots say of a host: noise, drift, kinds of boots, and how often the test would have been fooled. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stats/sequential.h"
#include "stats/share.h"

namespace hyperloom {

struct AaLeg { double log_value = 0; int requests = 0; double window_s = 0, foreign_cpu = 0, steal = 0; };   // in the order of boots
struct AaVoid { std::string reason; };

// The two kinds into which boots fall, if they do: the widest gap between neighbours in order of value that leaves at
// least two legs on either side.
struct Kinds { double gap_log = 0, gap_in_sd = 0; int slow = 0, fast = 0; bool two() const { return gap_in_sd >= kTwo; }
  static constexpr double kTwo = 1.5; };
Kinds kinds_of(std::vector<double> log_values);

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
  int cores = 0;
};
// One line a leg that counted, in the order of boots, two a pair: {"pair", "log_value", "requests", "window_s", "foreign_cpu", "steal"}.
std::string to_json_lines(const NoiseStudy& study);
// The findings and the advice, line by line.
std::string to_text(const NoiseStudy& study, double alpha, int comparisons, uint64_t seed, int sessions = 2000);

}  // namespace hyperloom

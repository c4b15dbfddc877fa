// Noise of one server boot as the field shows it, for simulations. Values are log throughput in %;
// one pair difference of quiet legs has the standard deviation `pair_sd`.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace hyperloom {

using Rng = std::mt19937_64;

// One session's machine: legs come one after another, so drift and correlation run through all of
// them. nullopt = a sentinel voided the leg; its pair is repeated. `noisier` scales this leg's own
// noise.
using LegSource = std::function<std::optional<double>(double noisier)>;

struct NoiseShape {
  std::string name;
  std::string text;  // what was simulated, for the report
  std::function<LegSource(Rng&)> start_session;
  std::function<double(Rng&)> candidate_noise = {};  // factor on a candidate's leg noise; empty = 1
};

std::vector<NoiseShape> noise_shapes();
// Real legs of one host, log throughput in %: drawn one by one, and as stretches of 20 in the order in which they ran.
std::vector<NoiseShape> recorded_shapes(const std::vector<double>& legs);
LegSource gauss_legs(Rng& rng, double pair_sd);

}  // namespace hyperloom

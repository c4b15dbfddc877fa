#include "leg_noise.h"

#include <cmath>

namespace hyperloom {
namespace {

const double kRoot2 = std::sqrt(2.0);

double gauss(Rng& rng) { return std::normal_distribution<double>()(rng); }
double uniform(Rng& rng) { return std::uniform_real_distribution<double>()(rng); }

LegSource t3_legs(Rng& rng) {
  return [&rng](double noisier) -> std::optional<double> {
    const double chi = std::gamma_distribution<double>(1.5, 2.0)(rng);  // chi-squared, 3 df
    return noisier * gauss(rng) / std::sqrt(chi / 3) / std::sqrt(3.0) /
           kRoot2;  // variance of t3 is 3
  };
}

LegSource bimodal_legs(Rng& rng) {
  return [&rng](double noisier) -> std::optional<double> {
    return noisier * (gauss(rng) / kRoot2 - (uniform(rng) < 0.2 ? 5 : 0));
  };
}

// A neighbour takes 5 to 30 % from every tenth leg; the sentinel sees `seen` of such legs.
LegSource burst_legs(Rng& rng, double seen) {
  return [&rng, seen](double noisier) -> std::optional<double> {
    const double quiet = noisier * gauss(rng) / kRoot2;
    if (uniform(rng) >= 0.1) return quiet;
    if (uniform(rng) < seen) return std::nullopt;
    return quiet - (5 + 25 * uniform(rng));
  };
}

LegSource ar_legs(Rng& rng, double rho) {
  return [&rng, rho, state = gauss(rng)](double noisier) mutable -> std::optional<double> {
    state = rho * state + std::sqrt(1 - rho * rho) * gauss(rng);
    return noisier * state / kRoot2;
  };
}

LegSource drift_legs(Rng& rng, double per_leg, double walk) {
  return [&rng, per_leg, walk, level = 0.0](double noisier) mutable -> std::optional<double> {
    level += per_leg + walk * gauss(rng);
    return level + noisier * gauss(rng) / kRoot2;
  };
}

}  // namespace

LegSource gauss_legs(Rng& rng, double pair_sd) {
  return [&rng, pair_sd](double noisier) -> std::optional<double> {
    return noisier * pair_sd * gauss(rng) / kRoot2;
  };
}

std::vector<NoiseShape> noise_shapes() {
  const auto plain = [](double sd) { return [sd](Rng& rng) { return gauss_legs(rng, sd); }; };
  return {
      {"gauss, sd 0.5", "normal, pair sd 0.5 %", plain(0.5)},
      {"gauss", "normal, pair sd 1 %", plain(1)},
      {"gauss, sd 3", "normal, pair sd 3 %", plain(3)},
      {"t3", "Student t, 3 df, scaled to pair sd 1 %", t3_legs},
      {"bimodal", "every fifth boot 5 % slower, core pair sd 1 %", bimodal_legs},
      {"bursts 10 %", "every tenth leg 5 to 30 % slower, unseen",
       [](Rng& r) { return burst_legs(r, 0); }},
      {"bursts + sentinel", "the same, 80 % of such legs voided and their pair repeated",
       [](Rng& r) { return burst_legs(r, 0.8); }},
      {"AR(0.5)", "legs correlated in time, rho 0.5", [](Rng& r) { return ar_legs(r, 0.5); }},
      {"AR(0.9)", "legs correlated in time, rho 0.9", [](Rng& r) { return ar_legs(r, 0.9); }},
      {"drift 0.05", "0.05 % faster with every leg", [](Rng& r) { return drift_legs(r, 0.05, 0); }},
      {"drift 0.5", "0.5 % faster with every leg", [](Rng& r) { return drift_legs(r, 0.5, 0); }},
      {"random walk 0.5", "level moves by N(0, 0.5 %) a leg",
       [](Rng& r) { return drift_legs(r, 0, 0.5); }},
      {"all noisier 2x", "every candidate's legs twice as noisy as stock's", plain(1),
       [](Rng&) { return 2.0; }},
      {"20 % noisier 3x", "every fifth candidate's legs three times as noisy", plain(1),
       [](Rng& r) { return uniform(r) < 0.2 ? 3.0 : 1.0; }},
      {"all noisier 3x", "every candidate's legs three times as noisy", plain(1),
       [](Rng&) { return 3.0; }},
  };
}

std::vector<NoiseShape> recorded_shapes(const std::vector<double>& legs) {
  const auto any = [n = legs.size()](Rng& rng) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  const auto one_by_one = [legs, any](Rng& rng) -> LegSource {
    return [legs, any, &rng](double) -> std::optional<double> { return legs[any(rng)]; };
  };
  const auto stretches = [legs, any](Rng& rng) -> LegSource {
    return [legs, any, &rng, at = size_t{0}, left = 0](double) mutable -> std::optional<double> {
      if (left-- == 0) at = any(rng), left = 19;
      return legs[at++ % legs.size()];
    };
  };
  const std::string count = std::to_string(legs.size());
  return {{"recorded legs", count + " real stock legs, drawn one by one", one_by_one},
          {"recorded stretches", count + " real stock legs, stretches of 20 as they ran", stretches}};
}

}  // namespace hyperloom

// Our own random numbers: the distributions of <random> differ between standard libraries, and a seed must give
// the same trace everywhere and for ever. xoshiro256** seeded by splitmix64.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace hyperloom {

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // [0, n), n > 0. The bias of 2^-64 n is nothing here.
  size_t below(size_t n) {
    return static_cast<size_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }
  double exponential() { return -std::log1p(-uniform()); }   // mean 1
  double normal() {                                          // Box-Muller, one of the two
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }

  // Gamma with this shape, above 0, and scale 1: mean = shape. Marsaglia and Tsang 2000 (A simple method for generating gamma
  // variables, ACM TOMS 26); below 1 by Gamma(shape + 1) U^(1/shape).
  double gamma(double shape) {
    if (shape < 1) {
      const double above = gamma(shape + 1);
      return above * std::pow(1 - uniform(), 1 / shape);
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = normal(), cube = std::pow(1 + c * x, 3);
      if (cube > 0 && std::log1p(-uniform()) < x * x / 2 + d - d * cube + d * std::log(cube)) return d * cube;
    }
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  static uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  uint64_t state_[4];
};

}  // namespace hyperloom

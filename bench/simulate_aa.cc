// Does the comparison hold its promise? Simulates whole sessions in which no candidate differs from
// stock, with the code that real sessions run (look, NoisePool, a_goes_first), and counts those
// that keep anything.
//   bench_simulate_aa [--sessions N] [--out FILE]   A/A sessions by noise shape; FILE gets the
//   Markdown report bench_simulate_aa --power                        the table behind
//   pairs_needed()
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>

#include "leg_noise.h"
#include "stats/sequential.h"

namespace hyperloom {
namespace {

constexpr int kComparisons = 20, kStockLegs = 6;

struct Pair {
  double difference = 0;
  int legs = 0;
};

// Two legs back to back; a voided leg voids and repeats its pair (L8), up to the limit that a
// session has.
Pair run_pair(const LegSource& leg, double noisier, bool a_first, double effect = 0) {
  Pair pair;
  for (;;) {
    std::array<std::optional<double>, 2> values;
    for (int i = 0; i < 2; ++i) {
      const bool is_a = (i == 0) == a_first;
      values[i] = leg(is_a ? 1 : noisier);
    }
    pair.legs += 2;
    if (!values[0] || !values[1]) continue;
    const double a = *values[a_first ? 0 : 1], b = *values[a_first ? 1 : 0];
    pair.difference = (b - a + effect) / 100;
    return pair;
  }
}

struct SessionCount {
  int keeps = 0, legs = 0, useless = 0;
};

SessionCount run_session(const NoiseShape& shape, const std::string& seed, Rng& rng) {
  SessionCount count;
  const LegSource leg = shape.start_session(rng);
  NoisePool pool;
  std::vector<double> stock;
  while (stock.size() < kStockLegs) {
    ++count.legs;
    if (const auto value = leg(1)) stock.push_back(*value / 100);
  }
  pool.add_stock_legs(stock);
  TestPlan plan;
  plan.alpha_k = alpha_per_comparison(0.05, kComparisons);
  for (int k = 0; k < kComparisons; ++k) {
    const double noisier = shape.candidate_noise ? shape.candidate_noise(rng) : 1;
    std::vector<double> differences;
    Look now;
    while (now.verdict == Verdict::Continue) {
      const int index = static_cast<int>(differences.size());
      const Pair pair = run_pair(leg, noisier, a_goes_first(seed, std::to_string(k), index));
      count.legs += pair.legs;
      differences.push_back(pair.difference);
      now = look(pool, differences, plan);
    }
    count.keeps += now.verdict == Verdict::Faster;
    count.useless += now.verdict == Verdict::NotUseful;
    pool.add_comparison(differences);
  }
  return count;
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string simulate(int sessions) {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string report = fmt::format(
      "# False keeps in simulated A/A sessions\n\n{}, {}. {} sessions a shape, {} comparisons a "
      "session, {} stock legs, "
      "alpha 0.05 a session, useful gain 0.5 %.\nNo candidate differs from stock: every keep is "
      "false. `bench_simulate_aa` "
      "prints this with the code that sessions run.\n\n| shape | sessions with a false keep | "
      "standard error | keeps a comparison "
      "| legs a session | `not_useful` | what was simulated |\n|---|---|---|---|---|---|---|\n",
      date, processor(), sessions, kComparisons, kStockLegs);
  std::cout << report << std::flush;
  for (const NoiseShape& shape : noise_shapes()) {
    Rng rng(20261201);  // the same machine luck for every shape and every run
    int spoiled = 0, keeps = 0, useless = 0;
    double legs = 0;
    for (int i = 0; i < sessions; ++i) {
      const SessionCount count = run_session(shape, shape.name + std::to_string(i), rng);
      spoiled += count.keeps > 0, keeps += count.keeps, legs += count.legs,
          useless += count.useless;
    }
    const double share = static_cast<double>(spoiled) / sessions,
                 comparisons = 1.0 * sessions * kComparisons;
    const std::string row =
        fmt::format("| {} | {:.4f} | {:.4f} | {:.5f} | {:.0f} | {:.0f} % | {} |\n", shape.name,
                    share, std::sqrt(share * (1 - share) / sessions), keeps / comparisons,
                    legs / sessions, 100 * useless / comparisons, shape.text);
    std::cout << row << std::flush;
    report += row;
  }
  return report;
}

// Share of comparisons with a true effect of `ratio` pair sd that are kept after at most n pairs.
void print_power() {
  fmt::print("gain/sd");
  for (int n = 3; n <= 10; ++n) fmt::print(" {:>6}", n);
  fmt::print("\n");
  const int runs = 20000;
  for (double ratio = 1; ratio <= 12; ratio += ratio < 5 ? 0.1 : 0.5) {
    Rng rng(7);
    std::array<int, 11> kept{};
    for (int i = 0; i < runs; ++i) {
      const LegSource leg = gauss_legs(rng, 1);
      NoisePool pool;
      std::vector<double> null_pairs, differences;
      for (int j = 0; j < 8; ++j) null_pairs.push_back(run_pair(leg, 1, true).difference);
      pool.add_null_pairs(null_pairs);
      Look now;
      while (now.verdict == Verdict::Continue) {
        differences.push_back(run_pair(leg, 1, true, ratio).difference);
        now = look(pool, differences, {});
      }
      if (now.verdict == Verdict::Faster) ++kept[static_cast<size_t>(now.n)];
    }
    fmt::print("{:7.1f}", ratio);
    int sum = 0;
    for (size_t n = 3; n <= 10; ++n) fmt::print(" {:6.3f}", 1.0 * (sum += kept[n]) / runs);
    fmt::print("\n");
  }
}

int run(int argc, char** argv) {
  int sessions = 10000;
  std::string out;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--power")) return print_power(), 0;
    if (!std::strcmp(argv[i], "--sessions") && i + 1 < argc)
      sessions = std::atoi(argv[++i]);
    else if (!std::strcmp(argv[i], "--out") && i + 1 < argc)
      out = argv[++i];
    else
      return std::cerr << "usage: bench_simulate_aa [--sessions N] [--out FILE] | --power\n", 2;
  }
  if (sessions < 1) return std::cerr << "--sessions needs a number above 0\n", 2;
  const auto start = std::chrono::steady_clock::now();
  std::string report = simulate(sessions);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const std::string last = fmt::format("\nTook {:.0f} s on one core.\n", took.count());
  std::cout << last;
  if (!out.empty() && !(std::ofstream(out) << report << last))
    return std::cerr << "cannot write " << out << "\n", 1;
  return 0;
}

}  // namespace
}  // namespace hyperloom

int main(int argc, char** argv) { return hyperloom::run(argc, argv); }

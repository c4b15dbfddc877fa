// Does the comparison hold its promise? Writes bench/results/false-keeps.json (bench/false_keeps_page.py makes the page of it):
// how often a session keeps a change that changes nothing, for each shape of noise and on recorded legs, under our rule and
// under others; how often and how soon real gains are found; how often the claim's interval holds the truth.
//   bench_false_keeps --out FILE [--sessions 10000] [--legs FILE]
// --legs: what `hyperloom doctor --noise --save-legs` wrote. A part that FILE already holds is not run again.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <thread>

#include "null_session.h"
#include "stats/quantile.h"
#include "stats/share.h"

namespace hyperloom {
namespace {

using Json = nlohmann::ordered_json;
constexpr uint64_t kSeed = 20261201;  // the same machine luck for every shape and every run

struct Parts {
  std::string path;
  Json done;

  // Runs `part` unless the file holds it; the file is whole after each.
  template <class Part>
  void run(const std::string& group, const std::string& name, Part part) {
    if (done[group].contains(name)) return;
    done[group][name] = part();
    std::cout << group << ", " << name << ": " << done[group][name].dump() << std::endl;
    std::ofstream(path + ".part") << done.dump(1) << "\n";
    if (std::rename((path + ".part").c_str(), path.c_str()) != 0) throw std::runtime_error("cannot write " + path);
  }
};

Json to_json(const Share& share) { return {{"rate", share.value()}, {"low", share.low}, {"high", share.high}, {"sessions", share.of}}; }

Json null_sessions(Rule rule, const NoiseShape& shape, int sessions) {
  Rng rng(kSeed);
  int spoiled = 0, keeps = 0;
  double legs = 0;
  for (int i = 0; i < sessions; ++i) {
    const SessionCount count = run_null_session(rule, shape, shape.name + std::to_string(i), rng);
    spoiled += count.keeps > 0, keeps += count.keeps, legs += count.legs;
  }
  Json json = to_json(wilson(spoiled, sessions));
  json["keeps_per_session"] = 1.0 * keeps / sessions;
  json["legs_per_session"] = legs / sessions;
  if (rule == Rule::Ours) json["what"] = shape.text;
  return json;
}

Json coverage(const NoiseShape& shape, int sessions) {
  Rng rng(kSeed);
  int held = 0;
  for (int i = 0; i < sessions; ++i) held += interval_covers(shape, shape.name + std::to_string(i), rng);
  return to_json(wilson(held, sessions));
}

Json power(Rule rule, double effect, int comparisons) {
  Rng rng(kSeed);
  std::vector<double> pairs;
  int kept = 0;
  for (int i = 0; i < comparisons; ++i) {
    const Decision decision = run_comparison(rule, effect, rng);
    kept += decision.kept;
    pairs.push_back(decision.pairs);
  }
  return {{"kept", 1.0 * kept / comparisons}, {"mean_pairs", mean(pairs)}, {"median_pairs", percentile(pairs, 50)}, {"comparisons", comparisons}};
}

std::vector<double> read_legs(const std::string& path) {
  std::ifstream file(path);
  std::vector<double> percent;
  for (std::string line; std::getline(file, line);) percent.push_back(100 * Json::parse(line).at("log_value").get<double>());
  if (percent.size() < 20) throw std::runtime_error(path + ": fewer than 20 legs; write it with hyperloom doctor --noise --save-legs");
  return percent;
}

std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) model = line.substr(line.find(':') + 2);
  return fmt::format("{}, {} cores", model, std::thread::hardware_concurrency());
}

int run(int argc, char** argv) {
  int sessions = 10000;
  std::string out, legs;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--sessions")) sessions = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--out")) out = argv[i + 1];
    if (!std::strcmp(argv[i], "--legs")) legs = argv[i + 1];
  }
  if (out.empty() || sessions < 1) return std::cerr << "usage: bench_false_keeps --out FILE [--sessions N] [--legs FILE]\n", 2;
  Parts parts{out, Json::object()};
  if (std::ifstream old(out); old) parts.done = Json::parse(old);
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  parts.done.update({{"date", date}, {"machine", machine()}, {"alpha", kAlpha}, {"comparisons", kComparisons}, {"stock_legs", kStockLegs}});

  std::vector<NoiseShape> shapes = noise_shapes();
  if (!legs.empty())
    for (NoiseShape& shape : recorded_shapes(read_legs(legs))) shapes.push_back(shape);
  for (const NoiseShape& shape : shapes) {
    parts.run("false_keep_rate", shape.name, [&] { return null_sessions(Rule::Ours, shape, sessions); });
    for (const Rule rule : {Rule::OneLeg1, Rule::OneLeg028, Rule::FivePairsT})
      parts.run(std::string("others: ") + name_of(rule), shape.name, [&] { return null_sessions(rule, shape, sessions); });
    parts.run("interval_coverage", shape.name, [&] { return coverage(shape, 4 * sessions); });
  }
  for (const Rule rule : kRules)
    for (const double effect : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0})
      parts.run(std::string("power: ") + name_of(rule), fmt::format("{:g}", effect), [&] { return power(rule, effect, sessions); });
  const Json& ours = parts.done["power: hyperloom"];
  parts.done["median_pairs_3pct"] = ours["3"]["median_pairs"];
  parts.done["null_pairs_mean"] = ours["0"]["mean_pairs"];
  std::ofstream(out) << parts.done.dump(1) << "\n";
  return 0;
}

}  // namespace
}  // namespace hyperloom

int main(int argc, char** argv) try {
  return hyperloom::run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "bench_false_keeps: " << error.what() << "\n";
  return 1;
}

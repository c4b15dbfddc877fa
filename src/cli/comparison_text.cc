#include "cli/comparison_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>


namespace hyperloom {
namespace {

std::vector<double> log_ratios(const std::vector<ComparedPair>& pairs) {
  std::vector<double> values;
  for (const ComparedPair& pair : pairs) values.push_back(pair.log_ratio());
  return values;
}

std::string ratio_text(const std::vector<ComparedPair>& pairs) {
  if (pairs.empty()) return "no pair was finished";
  if (pairs.size() == 1) return fmt::format("{:.3f} from 1 pair, which has no interval", std::exp(pairs[0].log_ratio()));
  const Interval i = claim_interval(log_ratios(pairs));
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]  (95 %, own t of {} pairs)", std::exp(i.mean), std::exp(i.low), std::exp(i.high), i.n);
}

std::string ttft_text(const std::vector<ComparedPair>& pairs) {
  std::vector<double> a, b;
  for (const ComparedPair& pair : pairs) {
    if (pair.ttft_a_ms > 0) a.push_back(pair.ttft_a_ms);
    if (pair.ttft_b_ms > 0) b.push_back(pair.ttft_b_ms);
  }
  if (a.empty() || b.empty()) return "";
  return fmt::format("first token  A {:.1f} ms, B {:.1f} ms (median over the pairs of each load's p50; not part of the verdict)\n", median(a), median(b));
}

Json pairs_json(const std::vector<ComparedPair>& pairs) {
  Json list = Json::array();
  for (const ComparedPair& p : pairs)
    list.push_back({{"a_first", p.a_first}, {"a_output_tok_s", p.a}, {"b_output_tok_s", p.b}, {"log_ratio", p.log_ratio()}});
  return list;
}

void add_interval(const std::vector<ComparedPair>& pairs, Json& json) {
  json["pairs"] = pairs_json(pairs);
  if (pairs.size() < 2) return;
  const Interval i = claim_interval(log_ratios(pairs));
  json["ratio"] = {{"value", std::exp(i.mean)}, {"low", std::exp(i.low)}, {"high", std::exp(i.high)}, {"level", 0.95}};
}

std::string verdict_line(const ComparedCommands& r) {
  const double gain = 100 * std::expm1(r.plan.useful_gain);
  if (r.verdict == "faster") return fmt::format("faster: B is proven faster than A (chance of a wrong \"faster\": {:g})", r.alpha);
  if (r.verdict == "not_useful") return fmt::format("not useful: B gains less than {:.2g} %, if anything", gain);
  if (r.verdict == "b_does_not_run") return "B does not run: " + r.b_failure;
  if (r.verdict == "interrupted") return "none: stopped early";
  if (!r.why_not.empty()) return "unresolvable: " + r.why_not;
  return fmt::format("unresolvable: {} pairs show neither a gain nor that there is none of {:.2g} %", r.pairs.size(), gain);
}

// What would settle it.
std::string advice(const ComparedCommands& r) {
  if (r.verdict != "unresolvable" || !r.why_not.empty()) return "";
  const double smallest = 2.0 * r.pair_sd_log;
  return fmt::format("to settle    longer legs (--requests {}) make each pair quieter; with this noise about {:.1f} % can be told apart\n",
                     4 * r.leg.requests, 100 * std::expm1(smallest));
}

}  // namespace

double ComparedPair::log_ratio() const { return std::log(b / a); }

std::string pair_line(int number, const ComparedPair& p) {
  return fmt::format("pair {:<2} ({} first)   A {:>9.2f}   B {:>9.2f} tok/s   B/A {:.3f}", number, p.a_first ? "A" : "B", p.a, p.b,
                     std::exp(p.log_ratio()));
}

std::string to_text(const ComparedCommands& r) {
  std::string text = "verdict      " + verdict_line(r) + "\n";
  if (!r.pairs.empty()) text += "B/A          " + ratio_text(r.pairs) + "\n";
  if (r.verdict == "faster") text += "             (these pairs stopped because they looked good, so they overstate a little)\n";
  if (!r.pairs.empty()) text += ttft_text(r.pairs);
  if (r.pool_df > 0)
    text += fmt::format("noise        a pair of equal servers differs by {:.2f} % (sd, {} degrees of freedom)\n", 100 * r.pair_sd_log, r.pool_df);
  if (r.look.n > 0)
    text += fmt::format("test         look {} of at most {}: p {:.2g} against {:.2g}; least gain {:.2g} %\n", r.look.n, r.plan.max_pairs,
                        r.look.p, r.look.bound, 100 * std::expm1(r.plan.useful_gain));
  if (r.leg.window_s > 0)
    text += fmt::format("1 leg        a fresh boot (A {:.1f} s, B {:.1f} s), {} requests of warm-up, {} measured in {:.1f} s\n", r.leg.boot_a_s,
                        r.leg.boot_b_s, r.leg.warmup, r.leg.requests, r.leg.window_s);
  if (r.voids > 0) text += fmt::format("void         {} legs were no evidence (other load, or our own client late) and were repeated\n", r.voids);
  if (r.same_answers >= 0)
    text += fmt::format("answers      {:.0f} % of the greedy answers' text is shared (common prefix); quality is not judged here\n", 100 * r.same_answers);
  return text + advice(r);
}

Json to_json_value(const ComparedCommands& r) {
  Json json{{"schema", 1}, {"kind", "commands"}, {"verdict", r.verdict}, {"objective", "output_tok_s"}, {"alpha", r.alpha},
            {"least_gain", std::expm1(r.plan.useful_gain)}, {"max_pairs", r.plan.max_pairs}, {"noise", {{"pair_sd_log", r.pair_sd_log}, {"df", r.pool_df}}},
            {"void_legs", r.voids},
            {"leg", {{"requests", r.leg.requests}, {"warmup", r.leg.warmup}, {"window_s", r.leg.window_s}, {"boot_a_s", r.leg.boot_a_s}, {"boot_b_s", r.leg.boot_b_s}}}};
  if (r.look.n > 0) json["test"] = {{"looks", r.look.n}, {"p", r.look.p}, {"bound", r.look.bound}};
  if (!r.b_failure.empty()) json["b_failure"] = r.b_failure;
  if (!r.why_not.empty()) json["why"] = r.why_not;
  if (r.same_answers >= 0) json["same_answers"] = r.same_answers;
  add_interval(r.pairs, json);
  return json;
}

std::string to_text(const ComparedServers& r) {
  std::string text = "estimate     B/A " + ratio_text(r.pairs) + "\n" + ttft_text(r.pairs);
  text += fmt::format("1 load       {} requests of warm-up, {} measured in {:.1f} s\n", r.load.warmup, r.load.requests, r.load.window_s);
  text +=
      "This is no verdict. What two launch commands would have given and two URLs cannot:\n"
      "  - boots: each server was booted once, and boots of the same server differ; the interval knows only of the loads\n"
      "  - order: what a server has served before (caches, heat, fragments) is not reset between the loads\n"
      "  - neighbours: nobody watched what else ran on the servers' machines\n"
      "  - settings: what the servers really run with was not read back\n";
  if (r.same_host) text += "  - company: both run on one host, so the idle one still takes memory, and cores if it spins\n";
  return text;
}

Json to_json_value(const ComparedServers& r) {
  Json json{{"schema", 1}, {"kind", "servers"}, {"verdict", r.interrupted ? "interrupted" : "estimate"}, {"objective", "output_tok_s"},
            {"not_guaranteed", {"boots", "order", "neighbours", "settings"}},
            {"load", {{"requests", r.load.requests}, {"warmup", r.load.warmup}, {"window_s", r.load.window_s}}}};
  add_interval(r.pairs, json);
  return json;
}

}  // namespace hyperloom

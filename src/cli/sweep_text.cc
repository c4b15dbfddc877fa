#include "cli/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace hyperloom {
namespace {

constexpr int kSamplesForP99 = 100;

// 3 significant digits, no exponent.
std::string short_number(double value) {
  const int before = value > 0 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 1;
  return fmt::format("{:.{}f}", value, std::clamp(3 - before, 0, 3));
}

std::string mark(const LoadSweep& r, size_t place) {
  if (place == r.curve.knee) return "knee";
  if (!r.points[place].failure.empty()) return "failed";
  return r.curve.saturated && place >= *r.curve.saturated ? "saturated" : "";
}

std::vector<std::string> heads(const LoadSweep& r) {
  return {r.by_rate ? "rate" : "clients", "tok/s", "req/s", "goodput", "TTFT p50", "TTFT p99", "TPOT p50", "TPOT p99", "E2E mean", ""};
}

std::string ms(double value, const Percentiles& p) { return p.count > 0 ? fmt::format("{:.1f}", value) : "-"; }

std::vector<std::string> cells(const LoadSweep& r, size_t place) {
  const LoadSummary& s = r.points[place].summary;
  return {fmt::format("{:g}", std::round(r.points[place].load * 1e3) / 1e3), fmt::format("{:.1f}", s.output_tok_s), fmt::format("{:.3f}", s.requests_s),
          fmt::format("{:.3f}", s.goodput_rps), ms(s.ttft_ms.p50, s.ttft_ms), ms(s.ttft_ms.p99, s.ttft_ms), ms(s.tpot_ms.p50, s.tpot_ms),
          ms(s.tpot_ms.p99, s.tpot_ms), ms(s.e2e_ms.mean, s.e2e_ms), mark(r, place)};
}

std::string knee_text(const LoadSweep& r) {
  const std::string unit = r.by_rate ? "rate" : "number of clients";
  if (r.points.empty()) return "no knee: nothing was measured";
  if (!r.curve.knee) {
    if (r.points.size() < 2 && !r.curve.saturated) return "no knee: one point is no curve";
    if (r.curve.saturated) return "no knee: the least load was too much already; start --sweep lower";
    return "no knee up to " + load_text(r.by_rate, r.points.back().load) + ": throughput still grows faster than latency; go higher with --sweep";
  }
  const size_t knee = *r.curve.knee;
  std::string text = "knee at " + load_text(r.by_rate, r.points[knee].load) + ": the " + unit + " with the most throughput for its latency";
  if (knee + 1 < r.points.size() && r.points[knee + 1].failure.empty()) {
    const LoadSummary &here = r.points[knee].summary, &next = r.points[knee + 1].summary;
    text += fmt::format("; going on to {} brought {:+.0f} % tok/s and {:+.0f} % E2E", load_text(r.by_rate, r.points[knee + 1].load),
                        100 * (next.output_tok_s / here.output_tok_s - 1), 100 * (next.e2e_ms.mean / here.e2e_ms.mean - 1));
  }
  if (!r.curve.beside.empty()) {
    std::vector<std::string> others;
    for (const size_t place : r.curve.beside) others.push_back(load_text(r.by_rate, r.points[place].load));
    text += "; as good to within a tenth: " + join(others, ", ");
  }
  return text;
}

std::string saturation_text(const LoadSweep& r) {
  if (!r.curve.saturated) return r.points.empty() ? "" : "not saturated up to " + load_text(r.by_rate, r.points.back().load);
  const LoadStep& point = r.points[*r.curve.saturated];
  const std::string from = "saturated from " + load_text(r.by_rate, point.load) + ": ";
  if (!point.failure.empty()) return from + point.failure;
  if (point.saturated) return from + "requests in flight and TTFT kept growing during the run";
  return from + "two steps in a row brought less than a tenth of the throughput that their load asked for";
}

// Knee, saturation, and what each point's run had to say.
std::vector<std::string> remarks(const LoadSweep& r) {
  std::vector<std::string> lines{knee_text(r)};
  if (!r.points.empty()) lines.push_back(saturation_text(r));
  const auto few = [](const LoadStep& p) { return p.summary.ttft_ms.count > 0 && p.summary.ttft_ms.count < kSamplesForP99; };
  if (std::any_of(r.points.begin(), r.points.end(), few))
    lines.push_back(fmt::format("warning: too few samples for p99: of fewer than {} requests it is simply the largest; raise --requests", kSamplesForP99));
  for (const LoadStep& point : r.points)
    for (const std::string& warning : point.summary.warnings)
      lines.push_back("warning (" + load_text(r.by_rate, point.load) + "): " + warning);
  return lines;
}

}  // namespace

std::vector<LoadPoint> curve_points(const std::vector<LoadStep>& points) {
  std::vector<LoadPoint> curve;
  for (const LoadStep& p : points)
    curve.push_back({p.load, p.summary.output_tok_s, p.summary.e2e_ms.mean, !p.saturated && p.failure.empty()});
  return curve;
}

std::string load_text(bool by_rate, double load) {
  if (by_rate) return short_number(load) + " requests/s";
  return fmt::format("{:.0f} client{}", load, load == 1 ? "" : "s");
}

std::string point_text(bool by_rate, const LoadStep& point) {
  const LoadSummary& s = point.summary;
  return fmt::format("{}: {:.1f} tok/s, {:.3f} requests/s, E2E mean {:.1f} ms{}", load_text(by_rate, point.load), s.output_tok_s, s.requests_s,
                     s.e2e_ms.mean, point.failure.empty() ? "" : "; " + point.failure);
}

std::string sweep_table(const LoadSweep& r) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i + 1 < row.size(); ++i) line += fmt::format("{:>{}}", row[i], i == 0 ? 8 : 10);
    text += line + (row.back().empty() ? "" : "  " + row.back()) + "\n";
  };
  add(heads(r));
  for (size_t i = 0; i < r.points.size(); ++i) add(cells(r, i));
  text += "latencies in ms" + std::string(r.by_rate ? ", rate in requests/s" : "") + "\n";
  for (const std::string& line : remarks(r)) text += line + "\n";
  return text;
}

std::string sweep_markdown(const LoadSweep& r) {
  std::string text = "| " + join(heads(r), " | ") + " |\n|";
  for (size_t i = 0; i + 1 < heads(r).size(); ++i) text += "--:|";
  text += "---|\n";
  for (size_t i = 0; i < r.points.size(); ++i) text += "| " + join(cells(r, i), " | ") + " |\n";
  text += "\nLatencies in ms" + std::string(r.by_rate ? ", rate in requests/s" : "") + ".\n\n";
  for (const std::string& line : remarks(r)) text += "- " + line + "\n";
  return text;
}

Json to_json_value(const LoadSweep& r) {
  const char* load = r.by_rate ? "rate_rps" : "clients";
  Json json{{"schema", 1}, {"url", r.url}, {"model", r.model}, {"sweep", r.by_rate ? "rate" : "clients"}, {"interrupted", r.interrupted}};
  json["points"] = Json::array();
  for (const LoadStep& point : r.points) {
    Json entry{{load, point.load}, {"requests", point.requests}, {"warmup_requests", point.warmup}, {"load", point.summary}, {"run_saturated", point.saturated}};
    if (!point.failure.empty()) entry["failure"] = point.failure;
    json["points"].push_back(entry);
  }
  const auto place = [&](size_t i, const std::string& why) { return Json{{load, r.points[i].load}, {"point", i}, {"why", why}}; };
  if (r.curve.knee) {
    json["knee"] = place(*r.curve.knee, knee_text(r));
    json["knee"]["beside"] = Json::array();
    for (const size_t i : r.curve.beside) json["knee"]["beside"].push_back(r.points[i].load);
  } else {
    json["no_knee"] = knee_text(r);
  }
  if (r.curve.saturated) json["saturated"] = place(*r.curve.saturated, saturation_text(r));
  return json;
}

}  // namespace hyperloom

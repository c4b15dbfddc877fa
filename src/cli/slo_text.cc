#include "cli/slo_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/sweep_text.h"

namespace hyperloom {
namespace {

std::string seen_text(const LoadSummary& summary, const Limit& limit) {
  const double seen = limit_value_ms(summary, limit);
  return seen < 0 ? "-" : fmt::format("{:.1f}", seen);
}

struct Row { double rate_rps; int runs = 0, met = 0, spoiled = 0; const SloRun* last = nullptr; };

// One a rate, by rate; the figures are those of the last run there that counts.
std::vector<Row> rows_of(const SloSearch& search) {
  std::map<double, Row> rows;
  for (const SloRun& run : search.runs) {
    Row& row = rows.try_emplace(run.rate_rps, Row{run.rate_rps}).first->second;
    row.spoiled += run.spoiled;
    if (run.spoiled) continue;
    ++row.runs;
    row.met += run.met;
    row.last = &run;
  }
  std::vector<Row> list;
  for (const auto& [rate, row] : rows) list.push_back(row);
  return list;
}

std::vector<std::string> heads(const SloSearch& search) {
  std::vector<std::string> names{"rate", "met"};
  for (const Limit& limit : search.limits) names.push_back(fmt::format("{} p{:g}", limit.metric, limit.percentile));
  names.insert(names.end(), {"tok/s", "goodput", "failed"});
  return names;
}

std::vector<std::string> cells(const SloSearch& search, const Row& row) {
  std::vector<std::string> texts{row.rate_rps > 0 ? fmt::format("{:.3f}", row.rate_rps) : "alone"};
  texts.push_back(fmt::format("{}/{}", row.met, row.runs));
  for (const Limit& limit : search.limits) texts.push_back(row.last ? seen_text(row.last->summary, limit) : "-");
  if (!row.last) return texts.insert(texts.end(), 3, "-"), texts;
  const LoadSummary& s = row.last->summary;
  texts.push_back(fmt::format("{:.1f}", s.output_tok_s));
  texts.push_back(fmt::format("{:.3f}", s.goodput_rps));
  texts.push_back(std::to_string(s.failed + s.timed_out));
  return texts;
}

std::string limits_text(const SloSearch& search) {
  std::vector<std::string> texts;
  for (const Limit& limit : search.limits) texts.push_back(limit_words(limit));
  return join(texts, ", ");
}

// How much of its limit each metric takes with one request at a time; the worst of the best run.
std::string nearest_text(const SloSearch& search) {
  const SloRun* best = nullptr;
  double least = 0;
  for (const SloRun& run : search.runs) {
    if (run.spoiled || run.rate_rps > 0 || run.summary.completed == 0) continue;
    double worst = 0;
    for (const Limit& l : search.limits) worst = std::max(worst, limit_value_ms(run.summary, l) / l.max_ms);
    if (!best || worst < least) best = &run, least = worst;
  }
  if (!best) return "no request was answered";
  std::vector<std::string> parts;
  for (const Limit& l : search.limits)
    parts.push_back(fmt::format("{} p{:g} {} ms of {:g}", l.metric, l.percentile, seen_text(best->summary, l), l.max_ms));
  return "the nearest was " + join(parts, ", ");
}

std::string proven(const SloSearch& search) { return fmt::format("{:g} %", 100 * (1 - search.alpha)); }

std::vector<std::string> remarks(const SloSearch& search) {
  std::vector<std::string> lines{answer_text(search)};
  if (!search.stopped.empty()) lines.push_back(search.stopped);
  std::map<std::string, int> said;
  for (const SloRun& run : search.runs)
    for (const std::string& warning : run.summary.warnings) ++said[warning.substr(0, warning.find(':'))];
  for (const auto& [warning, runs] : said)
    lines.push_back(fmt::format("warning in {} of {} runs: {}", runs, search.runs.size(), warning));
  return lines;
}

}  // namespace

std::string limit_words(const Limit& limit) {
  return fmt::format("{} p{:g} <= {:g} ms", limit.metric, limit.percentile, limit.max_ms);
}

std::string rate_text(double rate_rps) { return rate_rps > 0 ? load_text(true, rate_rps) : "one request at a time"; }

std::string run_text(const SloSearch& search, const SloRun& run) {
  const int failed = run.summary.failed + run.summary.timed_out;
  std::string text = rate_text(run.rate_rps) + (run.spoiled ? ": no evidence, repeated" : run.met ? ": met" : ": missed");
  for (const Limit& limit : search.limits)
    text += fmt::format(", {} p{:g} {} ms", limit.metric, limit.percentile, seen_text(run.summary, limit));
  if (failed > 0) text += fmt::format(", {} failed", failed);
  return text + (run.why.empty() ? "" : ": " + run.why);
}

std::string answer_text(const SloSearch& search) {
  const RateAnswer& a = search.answer;
  const std::string limits = limits_text(search), level = "proven at " + proven(search);
  const std::string alone = "with one request at a time";
  const std::string meets = !a.meets       ? ""
                            : *a.meets > 0 ? "meets " + limits + " at " + rate_text(*a.meets)
                                           : "meets " + limits + " " + alone + " only";
  const std::string misses = a.misses ? "misses at " + rate_text(*a.misses) : "";
  switch (a.end) {
    case RateEnd::NoRate:
      return "no rate meets " + limits + ": missed even " + alone + ", " + level + "; " + nearest_text(search);
    case RateEnd::Found:
      return meets + " and " + misses + ": " + level + ", likeliest up to " + rate_text(a.estimate);
    case RateEnd::Unlimited: return meets + ", the most that this client sends, " + level;
    default: break;
  }
  std::string text = "unresolved: ";
  if (a.meets && a.misses) text += meets + " and " + misses + ", " + level + ", but the search did not end";
  else if (a.meets) text += meets + ", " + level + ", but of no rate it is proven that it misses";
  else if (a.misses) text += misses + ", " + level + ", but of no rate it is proven that it meets " + limits;
  else text += "of no rate it is proven that it meets or misses " + limits;
  if (a.estimate > 0) text += "; most runs speak for " + rate_text(a.estimate);
  return text + "; longer runs (--requests) differ less";
}

std::string slo_table(const SloSearch& search) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i) text += fmt::format("{:>{}}", row[i], i == 0 ? 9 : 10);
    text += "\n";
  };
  add(heads(search));
  for (const Row& row : rows_of(search)) add(cells(search, row));
  text += "rate in requests/s, met of its runs, latencies in ms and rates of the last run there\n";
  for (const std::string& line : remarks(search)) text += line + "\n";
  return text;
}

std::string slo_markdown(const SloSearch& search) {
  std::string text = "| " + join(heads(search), " | ") + " |\n|";
  for (size_t i = 0; i < heads(search).size(); ++i) text += "--:|";
  text += "\n";
  for (const Row& row : rows_of(search)) text += "| " + join(cells(search, row), " | ") + " |\n";
  text += "\nRate in requests/s, met of its runs, latencies in ms and rates of the last run there.\n\n";
  for (const std::string& line : remarks(search)) text += "- " + line + "\n";
  return text;
}

Json to_json_value(const SloSearch& search) {
  const RateAnswer& a = search.answer;
  Json json{{"schema", 1}, {"url", search.url}, {"model", search.model}, {"alpha", search.alpha}};
  json["interrupted"] = search.interrupted;
  json["limits"] = Json::array();
  for (const Limit& l : search.limits)
    json["limits"].push_back({{"metric", l.metric}, {"percentile", l.percentile}, {"max_ms", l.max_ms}});
  json["answer"] = {{"end", name_of(a.end)}, {"why", answer_text(search)}, {"estimate_rps", a.estimate}};
  if (a.meets) json["answer"]["meets_rps"] = *a.meets;
  if (a.misses) json["answer"]["misses_rps"] = *a.misses;
  if (!search.stopped.empty()) json["stopped"] = search.stopped;
  json["runs"] = Json::array();
  for (const SloRun& run : search.runs) {
    Json entry{{"rate_rps", run.rate_rps}, {"requests", run.requests}, {"warmup_requests", run.warmup}};
    entry["load"] = run.summary;
    if (run.spoiled) entry["no_evidence"] = run.why;
    else entry["met"] = run.met;
    if (!run.spoiled && !run.why.empty()) entry["why"] = run.why;
    entry["over"] = Json::array();
    for (const LimitCount& c : run.counts) entry["over"].push_back({{"judged", c.judged}, {"over", c.over}});
    json["runs"].push_back(entry);
  }
  return json;
}

}  // namespace hyperloom

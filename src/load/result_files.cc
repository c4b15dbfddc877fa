#include "load/result_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hyperloom {

namespace {

struct Row {
  const char* name;
  const Percentiles* values;
};

std::vector<Row> rows_of(const LoadSummary& s) {
  std::vector<Row> rows;
  for (const Row& row : {Row{"TTFT", &s.ttft_ms}, Row{"TPOT", &s.tpot_ms}, Row{"ITL", &s.itl_ms},
                         Row{"E2E", &s.e2e_ms}, Row{"send lateness", &s.send_lateness_ms}, Row{"unread bytes", &s.read_wait_ms}}) {
    if (row.values->count > 0) rows.push_back(row);
  }
  return rows;
}

std::string counts_line(const LoadSummary& s) {
  std::string line = fmt::format("{} completed, {} failed, {} timed out, {} cut off; window {:.2f} s", s.completed,
                                 s.failed, s.timed_out, s.cut_off, s.window_s);
  for (const auto& [kind, count] : s.fail_kinds) line += fmt::format("; {} x {}", count, kind);
  return line;
}

std::string rates_line(const LoadSummary& s) {
  return fmt::format("output {:.2f} tok/s, total {:.2f} tok/s, {:.3f} requests/s, goodput {:.3f} requests/s, "
                     "{:.1f} output tokens a request",
                     s.output_tok_s, s.total_tok_s, s.requests_s, s.goodput_rps, s.mean_output_tokens);
}

}  // namespace

std::string records_jsonl(const std::vector<RequestRecord>& records) {
  std::string lines;
  for (const RequestRecord& record : records) {
    lines += to_json_value(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return lines;
}

std::string terminal_table(const LoadSummary& s) {
  std::string text = counts_line(s) + "\n" + rates_line(s) + "\n";
  text += fmt::format("{:<16}{:>10}{:>10}{:>10}{:>10}{:>10}{:>8}\n", "ms", "mean", "p50", "p90", "p95", "p99",
                      "count");
  for (const Row& row : rows_of(s)) {
    const Percentiles& p = *row.values;
    text += fmt::format("{:<16}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>8}\n", row.name, p.mean, p.p50,
                        p.p90, p.p95, p.p99, p.count);
  }
  for (const std::string& warning : s.warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string markdown_table(const LoadSummary& s) {
  std::string text = counts_line(s) + "  \n" + rates_line(s) + "\n\n";
  text += "| ms | mean | p50 | p90 | p95 | p99 | count |\n|---|--:|--:|--:|--:|--:|--:|\n";
  for (const Row& row : rows_of(s)) {
    const Percentiles& p = *row.values;
    text += fmt::format("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {} |\n", row.name, p.mean, p.p50, p.p90,
                        p.p95, p.p99, p.count);
  }
  if (!s.warnings.empty()) text += "\n";
  for (const std::string& warning : s.warnings) text += "- warning: " + warning + "\n";
  return text;
}

}  // namespace hyperloom

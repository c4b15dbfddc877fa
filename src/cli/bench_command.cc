// `hyperloom bench --url`: load on a server that somebody else runs.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/bench_parts.h"
#include "cli/bench_target.h"
#include "cli/load_line.h"
#include "cli/prompt_cache.h"
#include "cli/sample_size.h"
#include "cli/server_check.h"
#include "load/descriptors.h"
#include "load/result_files.h"

namespace hyperloom {
namespace {

std::string what_runs(const LoadSpec& spec, int requests) {
  return fmt::format("{} ({}), {}, {} requests after {} of warm-up", spec.url, spec.model, arrival_text(spec.traffic), requests,
                     spec.warmup_requests);
}

Json result_json(const LoadSpec& spec, const RequestTrace& trace, const LoadResult& result) {
  const Traffic& t = spec.traffic;
  Json json{{"schema", 1}, {"url", spec.url}, {"model", spec.model}, {"api", t.api == Traffic::Api::Chat ? "chat" : "completions"},
            {"seed", t.seed}, {"warmup_requests", spec.warmup_requests}, {"trace_sha256", trace.sha256},
            {"interrupted", result.stopped}, {"load", result.summary},
            {"client", {{"cpu_s", result.client_cpu_s}, {"loop_delay_ms", result.loop_delay_ms}}}};
  LogHistogram itl_ms(0.01);
  for (const LogHistogram::Bucket& bucket : result.itl_s.buckets()) itl_ms.add(bucket.value * 1e3, bucket.count);
  json["itl_histogram_ms"] = Json::array();   // [value, count], each value within 1 %
  for (const LogHistogram::Bucket& bucket : itl_ms.buckets()) json["itl_histogram_ms"].push_back({bucket.value, bucket.count});
  if (t.kind == Traffic::Kind::Closed) json["clients"] = t.clients;
  else json["rate_rps"] = t.rate_rps;
  json["arrival"] = arrival_text(t);
  if (t.kind == Traffic::Kind::Trace) json["replay"] = {{"file", t.trace}, {"sha256", t.trace_sha256}, {"speed", t.trace_speed}};
  for (const Limit& limit : spec.limits) {
    Json entry{{"metric", limit.metric}, {"percentile", limit.percentile}, {"max_ms", limit.max_ms}};
    if (const double seen = limit_value_ms(result.summary, limit); seen >= 0) entry["value_ms"] = seen, entry["met"] = seen <= limit.max_ms;
    json["limits"].push_back(entry);
  }
  return json;
}

void print_limits(const LoadSpec& spec, const LoadSummary& summary) {
  for (const Limit& limit : spec.limits) {
    const double seen = limit_value_ms(summary, limit);
    std::printf("limit %s p%g <= %g ms: %s\n", limit.metric.c_str(), limit.percentile, limit.max_ms,
                seen < 0 ? "not measured" : fmt::format("{:.1f} ms, {}", seen, seen <= limit.max_ms ? "met" : "missed").c_str());
  }
}

int bench_url(const BenchOptions& options) {
  LoadSpec spec = url_load_spec(options);
  check_writable(options.save_result, "--save-result");
  check_writable(options.save_requests, "--save-requests");
  check_writable(options.markdown, "--markdown");
  if (spec.traffic.kind == Traffic::Kind::Closed) require_connections(spec.traffic.clients, "--clients");
  const int requests = measured_requests(options, spec);
  const int count = spec.warmup_requests + requests;
  if (!spec.traffic.dataset.empty()) check_dataset(spec.traffic, options.seed, count);   // refused before anything is sent

  LoadLine line("asking " + spec.url + " for one answer");
  const ServerCheck check = check_server(spec, "--url", &stop_flags().any);
  spec.model = check.model;
  const RequestTrace trace = make_trace(spec.traffic, options.seed, count, check.tokens_per_word);
  const auto before = scrape(spec);
  line.note(what_runs(spec, requests));
  line.say("measuring");
  spec.keep_records = !options.save_requests.empty() || !options.save_result.empty();
  LoadResult result = run_load(spec, trace, [&](const LoadProgress& p) { line.update(p); }, &stop_flags().any);
  for (std::string& warning : sample_size_warnings(result.summary, spec.limits)) result.summary.warnings.push_back(std::move(warning));

  LoadSummary& summary = result.summary;
  if (!before.empty()) note_prompt_cache(before, scrape(spec), result);
  if (summary.completed == 0 && !result.stopped && summary.failed > 0) {
    std::string kinds;
    for (const auto& [kind, n] : summary.fail_kinds) kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", n, kind);
    const std::string words = trim(result.first_failure.fail_text).substr(0, 300);
    throw bad_input("none of the requests to " + spec.url + " completed (" + kinds + ")" + (words.empty() ? "" : "; first: " + words),
                    "look at the server's log");
  }
  if (!options.save_requests.empty()) write_file(options.save_requests, records_jsonl(result.records));
  if (!options.save_result.empty())
    write_file(options.save_result, vllm_result(spec, result, "openai", SystemClock().wall()).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!options.markdown.empty()) write_file(options.markdown, markdown_table(summary));
  if (options.json) {
    std::printf("%s\n", result_json(spec, trace, result).dump(2).c_str());
  } else {
    std::printf("%s", terminal_table(summary).c_str());
    print_limits(spec, summary);
  }
  if (result.stopped) std::fprintf(stderr, "stopped early: these figures are of what had been measured by then\n");
  return result.stopped ? static_cast<int>(ErrorKind::Interrupted) : 0;
}

}  // namespace

int bench_command(const BenchOptions& options) {
  if (options.url.empty() == options.workload.empty())
    throw bad_input(options.url.empty() ? "bench needs a server" : "--url and --workload exclude each other",
                    "give --url http://HOST:PORT of a running server, or --workload FILE to launch one");
  if (!options.slo.empty()) return bench_slo(options);
  if (!options.sweep.empty()) return bench_sweep(options);
  return options.url.empty() ? bench_leg(options) : bench_url(options);
}

}  // namespace hyperloom

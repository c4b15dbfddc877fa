// Two URLs: alternating loads, an estimate.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "cli/arguments.h"
#include "cli/compare_parts.h"
#include "cli/comparison_text.h"
#include "cli/load_line.h"
#include "cli/server_check.h"
#include "measure/leg_evidence.h"

namespace hyperloom {
namespace {

std::string host_of(const std::string& url) {
  const size_t start = url.find("://") + 3;
  return url.substr(start, url.find_first_of(":/", start) - start);
}

class Servers {
 public:
  Servers(const CompareOptions& options, const Traffic& traffic) : options_(options) {
    for (auto [url, name, spec] : {std::tuple(&options.a, "A", &a_), std::tuple(&options.b, "B", &b_)}) {
      spec->url = checked_url(*url, name);
      spec->traffic = traffic;
      spec->warmup_requests = std::max(1, traffic.clients / 2);
    }
    result_.load = {.requests = options.requests, .warmup = a_.warmup_requests};
    result_.same_host = host_of(a_.url) == host_of(b_.url);
  }

  int run() {
    line_.say("asking both servers for one answer");
    const ServerCheck check = check_server(a_, "A", &stop_flags().any);
    a_.model = check.model;
    b_.model = check_server(b_, "B", &stop_flags().any).model;
    tokens_per_word_ = check.tokens_per_word;
    for (LoadSpec* spec : {&a_, &b_}) load(*spec, spec == &a_ ? "A" : "B", "warm-up", -1);
    for (int i = 0; i < options_.max_pairs && !stop_flags().any; ++i) pair(i);
    line_.say("");
    result_.interrupted = stop_flags().any;
    if (options_.json) std::printf("%s\n", to_json_value(result_).dump(2).c_str());
    else std::printf("%s", to_text(result_).c_str());
    return result_.interrupted ? static_cast<int>(ErrorKind::Interrupted) : 0;
  }

 private:
  LoadSummary load(const LoadSpec& spec, const std::string& name, const std::string& what, int index) {
    // Both servers get the same trace, and no trace twice: a prefix cache would answer the second time.
    const uint64_t seed = seed_from(fmt::format("{}/compare/{}", options_.seed, index));
    const RequestTrace trace = make_trace(spec.traffic, seed, spec.warmup_requests + options_.requests, tokens_per_word_);
    line_.say(what + ", " + name);
    const LoadResult result = run_load(spec, trace, [&](const LoadProgress& p) { line_.update(p); }, &stop_flags().any);
    if (stop_flags().any) return result.summary;
    const double value = result.summary.output_tok_s;
    if (const auto failure = load_failure(result, spec.traffic, value))
      throw bad_input(name + " " + spec.url + ": " + failure->text(), "look at the server's log");
    for (const std::string& warning : result.summary.warnings)
      if (index >= 0) line_.note("warning: " + name + ": " + warning);
    result_.load.window_s = result.summary.window_s;
    return result.summary;
  }

  void pair(int index) {
    ComparedPair pair{.a_first = a_goes_first(std::to_string(options_.seed), "compare", index)};
    const std::string what = fmt::format("pair {}", index + 1);
    LoadSummary a, b;
    if (pair.a_first) a = load(a_, "A", what, index);
    if (!stop_flags().any) b = load(b_, "B", what, index);
    if (!pair.a_first && !stop_flags().any) a = load(a_, "A", what, index);
    if (stop_flags().any) return;
    pair.a = a.output_tok_s, pair.b = b.output_tok_s;
    pair.ttft_a_ms = a.ttft_ms.p50, pair.ttft_b_ms = b.ttft_ms.p50;
    result_.pairs.push_back(pair);
    line_.note(pair_line(index + 1, pair));
  }

  const CompareOptions& options_;
  LoadSpec a_, b_;
  LoadLine line_;
  ComparedServers result_;
  double tokens_per_word_ = 0;
};

}  // namespace

int compare_servers(const CompareOptions& options, const Traffic& traffic) { return Servers(options, traffic).run(); }

}  // namespace hyperloom

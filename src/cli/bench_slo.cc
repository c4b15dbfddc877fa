// `hyperloom bench --slo`: the highest request rate that meets the latency limits, by load/rate_search.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/bench_parts.h"
#include "cli/bench_target.h"
#include "cli/slo_text.h"
#include "measure/leg_evidence.h"

namespace hyperloom {
namespace {

constexpr int kAlone = 20;               // requests of a run of one at a time: they differ little
constexpr double kSamples = 2;           // times the samples of which a percentile would be the largest
constexpr double kLifetimes = 8;         // of a request alone, that a run lasts: a queue takes time to grow
constexpr int kMostRequests = 20000, kMostSpoiled = 3, kMostDead = 2;
constexpr double kWarmupShare = 0.25;

class Search {
 public:
  explicit Search(const BenchOptions& options) : options_(options), target_(options, line_) {
    result_.url = target_.spec().url;
    result_.model = target_.spec().model;
    result_.limits = target_.spec().limits;
    double samples = 0;
    for (const Limit& limit : result_.limits) samples = std::max(samples, 100 / (100 - limit.percentile));
    least_requests_ = std::max(options.requests, static_cast<int>(std::ceil(kSamples * samples)));
  }

  SloSearch run() {
    line_.note(fmt::format("{} ({}): runs of {} requests or more, each on text of its own", result_.url, result_.model,
                           least_requests_));
    const SloRun alone = measure(0);
    if (over_) return result_;
    if (alone.summary.e2e_ms.mean <= 0)
      throw bad_input("one request at a time gets no answer from " + result_.url, "look at the server's log");
    alone_s_ = 1e-3 * alone.summary.e2e_ms.mean;
    RateSearch search({.start_rps = 1 / alone_s_, .alpha = result_.alpha});
    search.add(alone.met);
    while (!over_ && search.next()) {
      const SloRun run = measure(*search.next());
      if (!over_) search.add(run.met);
      result_.answer = search.answer();
    }
    return result_;
  }

 private:
  // A run that counts; repeated while it is none. Sets over_ where the search must end without it.
  SloRun measure(double rate_rps) {
    while (true) {
      SloRun run = once(rate_rps);
      if (over_) return run;
      line_.note(run_text(result_, run));
      result_.runs.push_back(run);
      if (!run.spoiled) return run;
      if (++spoiled_ >= kMostSpoiled) {
        over_ = true;
        result_.stopped = fmt::format("stopped: hyperloom was the bottleneck at {}, {} runs in a row: {}",
                                      rate_text(rate_rps), spoiled_, run.why);
        return run;
      }
    }
  }

  SloRun once(double rate_rps) {
    Traffic traffic = target_.spec().traffic;
    traffic.kind = rate_rps > 0 ? Traffic::Kind::Open : Traffic::Kind::Closed;
    traffic.clients = rate_rps > 0 ? 0 : 1;
    traffic.rate_rps = rate_rps;
    SloRun run{.rate_rps = rate_rps};
    run.requests = rate_rps > 0 ? requests_at(rate_rps) : std::min(kAlone, least_requests_);
    const int warmup = rate_rps > 0 ? static_cast<int>(kWarmupShare * run.requests) : 1;
    run.warmup = options_.warmup >= 0 ? options_.warmup : warmup;
    const std::string what = fmt::format("run {}, {}", result_.runs.size() + 1, rate_text(rate_rps));
    const LoadResult load = target_.load(traffic, run.warmup, run.requests, loads_++, what);
    over_ = result_.interrupted = load.stopped;
    run.summary = load.summary;
    run.counts = load.limit_counts;
    judge(run, load);
    return run;
  }

  int requests_at(double rate_rps) const {
    const double lasting = std::min<double>(kMostRequests, std::ceil(kLifetimes * rate_rps * alone_s_));
    return std::max(least_requests_, static_cast<int>(lasting));
  }

  void judge(SloRun& run, const LoadResult& load) {
    run.met = !load.saturated;
    if (load.saturated) run.why = "requests in flight and TTFT kept growing";
    for (size_t i = 0; i < result_.limits.size(); ++i) run.met &= load.limit_counts[i].met(result_.limits[i]);
    std::vector<std::string> reasons = void_reasons(load, {}, {});
    if (load.out_of_connections) reasons.push_back("it may open no more connections");
    if (!reasons.empty() && !load.stopped) run.spoiled = true, run.why = join(reasons, "; ");
    spoiled_ = run.spoiled ? spoiled_ : 0;
    dead_ = load.summary.completed == 0 && load.summary.failed > 0 ? dead_ + 1 : 0;
    if (dead_ < kMostDead) return;
    over_ = true;
    const RequestRecord& first = load.first_failure;
    result_.stopped = fmt::format("stopped: the server answers no more ({}: {}); look at its log", first.fail_kind,
                                  trim(first.fail_text).substr(0, 200));
  }

  const BenchOptions& options_;
  LoadLine line_;
  BenchTarget target_;
  SloSearch result_;
  int least_requests_ = 0, loads_ = 0, spoiled_ = 0, dead_ = 0;
  double alone_s_ = 0;
  bool over_ = false;
};

}  // namespace

int bench_slo(const BenchOptions& given) {
  BenchOptions options = given;
  if (!options.save_result.empty() || !options.save_requests.empty())
    throw bad_input(std::string(options.save_result.empty() ? "--save-requests" : "--save-result") +
                        " holds one load, and --slo makes many",
                    "use --json or --markdown, or measure one rate alone with --rate");
  if (options.duration_s > 0)
    throw bad_input("--duration cuts a run short, and --slo judges whole ones", "leave it out, or lower --requests");
  if (options.requests < 1)
    throw bad_input(fmt::format("--requests {} is too few", options.requests), "give at least --requests 1");
  if (options.slo != "given") {
    if (!options.limits.empty()) throw bad_input("--slo and --limit both give limits", "give them all to --slo");
    options.limits = slo_limits(options.slo);
  }
  if (options.limits.empty() && (options.workload.empty() || load_workload(options.workload).objective.limits.empty()))
    throw bad_input("--slo has no limits, and neither --limit nor the workload gives any",
                    "write --slo 'ttft:p99<500ms,tpot:p90<40ms'");
  check_writable(options.markdown, "--markdown");
  const SloSearch result = Search(options).run();
  if (!options.markdown.empty()) write_file(options.markdown, slo_markdown(result));
  if (options.json) std::printf("%s\n", to_json_value(result).dump(2).c_str());
  else std::printf("%s", printable(slo_table(result)).c_str());
  if (result.interrupted) {
    std::fprintf(stderr, "stopped early: the runs above had been measured by then\n");
    return static_cast<int>(ErrorKind::Interrupted);
  }
  const bool resolved = result.answer.end != RateEnd::Unresolved && result.stopped.empty();
  return resolved ? 0 : static_cast<int>(ErrorKind::Unresolvable);
}

}  // namespace hyperloom

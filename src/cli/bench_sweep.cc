// `hyperloom bench --sweep`: steps of load on one server up to where more load brings no more work.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"
#include "cli/arguments.h"
#include "cli/bench_parts.h"
#include "cli/bench_target.h"
#include "cli/sweep_text.h"
#include "load/descriptors.h"
#include "measure/leg_evidence.h"

namespace hyperloom {
namespace {

constexpr int kMostClients = 4096, kMostSteps = 16;   // of the steps that we choose
constexpr int kRequestsAClient = 4;
constexpr int kProbeRequests = 4;

class Sweep {
 public:
  Sweep(const BenchOptions& options, const SweepSteps& steps) : options_(options), steps_(steps), target_(options, line_) {
    result_.url = target_.spec().url;
    result_.model = target_.spec().model;
    result_.by_rate = steps.by_rate;
  }

  LoadSweep run() {
    if (steps_.loads.empty()) climb();
    else walk(steps_.loads);
    if (steps_.loads.empty()) refine();
    result_.interrupted = stop_flags().any;
    return result_;
  }

 private:
  bool over() const { return stop_flags().any || result_.curve.saturated.has_value(); }

  void walk(const std::vector<double>& loads) {
    for (const double load : loads) {
      if (over()) break;
      measure(load);
    }
  }

  // Twice the load each time: from one client, or from the rate that one client makes by itself.
  void climb() {
    double load = steps_.by_rate ? lone_rate() : 1;
    for (int step = 0; step < kMostSteps && load <= (steps_.by_rate ? HUGE_VAL : kMostClients) && !over(); ++step, load *= 2) {
      if (!steps_.by_rate && connections_possible(static_cast<int>(load)) < load) break;
      measure(load);
    }
  }

  // Halfway to the knee's neighbours, so that its place is known to within a factor of 1.4.
  void refine() {
    if (!result_.curve.knee) return;
    const std::vector<LoadStep>& points = result_.points;
    const size_t knee = *result_.curve.knee;
    std::vector<double> between;
    for (const size_t other : {knee - 1, knee + 1}) {
      if (other >= points.size()) continue;   // knee - 1 of the first is past the end, too
      const double middle = std::sqrt(points[knee].load * points[other].load);
      between.push_back(steps_.by_rate ? middle : std::round(middle));
    }
    for (const double load : between) {
      const bool known = std::any_of(points.begin(), points.end(), [&](const LoadStep& p) { return p.load == load; });
      if (!known && !stop_flags().any) measure(load);
    }
  }

  double lone_rate() {
    Traffic traffic = target_.spec().traffic;
    traffic.kind = Traffic::Kind::Closed;
    traffic.clients = 1;
    const LoadResult alone = target_.load(traffic, 1, kProbeRequests, loads_++, "one client alone");
    if (!stop_flags().any && alone.summary.e2e_ms.mean <= 0) throw bad_input("one client alone gets no answer from " + result_.url, "look at the server's log");
    return stop_flags().any ? 1 : 1e3 / alone.summary.e2e_ms.mean;
  }

  void measure(double load) {
    Traffic traffic = target_.spec().traffic;
    traffic.kind = steps_.by_rate ? Traffic::Kind::Open : Traffic::Kind::Closed;
    traffic.clients = steps_.by_rate ? 0 : static_cast<int>(load);
    traffic.rate_rps = steps_.by_rate ? load : 0;
    const int requests = std::max(options_.requests, kRequestsAClient * traffic.clients);
    const int warmup = options_.warmup >= 0 ? options_.warmup : std::max(1, steps_.by_rate ? requests / 8 : traffic.clients);
    const std::string what = load_text(steps_.by_rate, load);
    const LoadResult result = target_.load(traffic, warmup, requests, loads_++, what);
    if (result.stopped) return;   // half a point is none
    LoadStep point{.load = load, .requests = requests, .warmup = warmup, .summary = result.summary, .saturated = result.saturated};
    if (const auto failure = load_failure(result, traffic, result.summary.output_tok_s)) point.failure = failure->text();
    line_.note(point_text(result_.by_rate, point));
    const auto place = std::find_if(result_.points.begin(), result_.points.end(), [&](const LoadStep& p) { return p.load > load; });
    result_.points.insert(place, std::move(point));
    result_.curve = read_curve(curve_points(result_.points));
  }

  const BenchOptions& options_;
  const SweepSteps steps_;
  LoadLine line_;
  BenchTarget target_;
  LoadSweep result_;
  int loads_ = 0;
};

}  // namespace

int bench_sweep(const BenchOptions& options) {
  const SweepSteps steps = parse_sweep(options.sweep);
  if (!options.save_result.empty() || !options.save_requests.empty())
    throw bad_input(std::string(options.save_result.empty() ? "--save-requests" : "--save-result") + " holds one load, and --sweep makes many",
                    "use --json or --markdown, or measure one point alone with --clients or --rate");
  if (options.requests < 1) throw bad_input(fmt::format("--requests {} is too few", options.requests), "give at least --requests 1");
  check_writable(options.markdown, "--markdown");
  if (!steps.by_rate && !steps.loads.empty()) require_connections(static_cast<int>(steps.loads.back()), "--sweep");
  const LoadSweep result = Sweep(options, steps).run();
  if (!options.markdown.empty()) write_file(options.markdown, sweep_markdown(result));
  if (options.json) std::printf("%s\n", to_json_value(result).dump(2).c_str());
  else std::printf("%s", printable(sweep_table(result)).c_str());
  if (result.interrupted) std::fprintf(stderr, "stopped early: the points above had been measured by then\n");
  return result.interrupted ? static_cast<int>(ErrorKind::Interrupted) : 0;
}

}  // namespace hyperloom

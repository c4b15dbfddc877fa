#include "measure/leg.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "base/error.h"
#include "measure/leg_evidence.h"
#include "os/event_loop.h"

namespace hyperloom {
namespace {

constexpr double kDeathWait_s = 2;   // a crash closes its sockets before the process has ended (core dump)

// hooks.under_load on its own thread, from the first progress after warm-up until it returns.
class UnderLoad {
 public:
  UnderLoad(const LegHooks& hooks, Server& server, int warmup) : hooks_(hooks), server_(server), warmup_(warmup) {}

  void on_progress(const LoadProgress& progress) {
    if (hooks_.under_load && !started_ && progress.done >= warmup_) {
      started_ = true;
      thread_ = std::jthread([this] {
        try {
          hooks_.under_load(server_);
        } catch (...) {
          problem_ = std::current_exception();
        }
      });
    }
    if (hooks_.on_progress) hooks_.on_progress(progress);
  }
  // The server belongs to this thread again afterwards. Rethrows what the hook threw.
  void join() {
    if (thread_.joinable()) thread_.join();
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  const LegHooks& hooks_;
  Server& server_;
  const int warmup_;
  bool started_ = false;
  std::exception_ptr problem_;
  std::jthread thread_;                // last: joined before what it uses goes
};

LegOutcome not_booted(const Failure& failure, const LegOrder& order, const LegHooks& hooks, double begun_s) {
  LegResult result;
  if (hooks.stop_flag && *hooks.stop_flag)
    result.void_reasons.push_back("stopped: we were told to stop before the server was ready");
  else if (lost_our_port(failure, order.launch, order.ran_before))
    result.void_reasons.push_back("another process took our port: " + failure.line);
  else
    return failure;
  result.cost_s = EventLoop::now_s() - begun_s;
  return result;
}

LoadSpec load_spec(const LegOrder& order, const Server& server) {
  LoadSpec spec;
  spec.url = server.url();
  spec.traffic = order.traffic;
  spec.warmup_requests = order.warmup_requests;
  spec.time_limit_s = order.time_limit_s;
  if (order.time_limit_s > 0) spec.request_timeout_s = 0;   // the leg's own limit cuts off what hangs
  spec.limits = order.objective.limits;
  // Only output tokens survive a cut: everything else wants every answer. Without the drain a third of the leg is saved.
  spec.drain = order.drain || !order.objective.limits.empty() || order.objective.maximize != "output_tok_s";
  return spec;
}

// A death that the load has just felt may not be visible yet.
std::optional<Failure> death(Server& server, bool requests_failed) {
  if (requests_failed) server.child().wait(kDeathWait_s);
  return server.died();
}

}  // namespace

LegOutcome run_leg(const Pack& pack, const LegOrder& order, const std::filesystem::path& log, const LegHooks& hooks) {
  const double begun_s = EventLoop::now_s();
  if (order.measured_requests < 1)
    throw bad_input("a leg of " + std::to_string(order.measured_requests) + " measured requests",
                    "measure at least 1 request");
  const RequestTrace trace = make_trace(order.traffic, order.trace_seed,
                                        order.warmup_requests + order.measured_requests, order.tokens_per_word);
  auto started = Server::start(pack, order.launch, log, hooks.on_started, hooks.stop_flag);
  if (const Failure* failure = std::get_if<Failure>(&started)) return not_booted(*failure, order, hooks, begun_s);
  Server& server = *std::get<std::unique_ptr<Server>>(started);

  LegResult result;
  result.trace_sha256 = trace.sha256;
  result.boot_s = server.boot_s();
  result.effective = server.effective();
  const auto before = server.metrics();

  UnderLoad under_load(hooks, server, order.warmup_requests);
  Sentinel sentinel(server.child().handle().pid);
  LoadResult load = run_load(load_spec(order, server), trace,
                             [&](const LoadProgress& progress) { under_load.on_progress(progress); }, hooks.stop_flag);
  result.neighbours = sentinel.finish();
  under_load.join();

  result.load = load.summary;
  result.value = objective_value(load.summary, order.objective);
  result.void_reasons = void_reasons(load, result.neighbours, order.limits);
  const std::optional<Failure> failed = load_failure(load, order.traffic, result.value);
  const std::optional<Failure> died = death(server, failed.has_value());
  if (!died) result.metrics = counter_differences(before, server.metrics());

  const Server::Gone gone = server.stop();
  result.forced_stop = gone.forced;
  result.peak_rss_bytes = gone.status.peak_rss_bytes;
  if (!gone.clean) result.void_reasons.push_back("the server is not gone: " + gone.problem);
  result.records_jsonl = records_jsonl(load.records);
  result.answers_sha256 = answers_sha256(load.records);
  result.cost_s = EventLoop::now_s() - begun_s;

  if (load.stopped) return result;
  if (died) return *died;
  // Too slow beside a neighbour is the neighbour's fault; a wrong answer is not.
  const bool only_slow = load.summary.failed == 0;
  if (failed && (result.void_reasons.empty() || !only_slow)) return *failed;
  return result;
}

}  // namespace hyperloom

#include "load/client_health.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace hyperloom {
namespace {

constexpr double kLeastRun_s = 0.5;          // shares of less are chance
constexpr double kBusyShare = 0.8, kWaitedShare = 0.05;
constexpr double kLeastLoopDelayMs = 50, kLeastReadWaitMs = 5;

}  // namespace

ThreadCost thread_cost() {
  ThreadCost cost;
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  cost.cpu_s = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  double ran_ns = 0, waited_ns = 0;          // "ran waited slices", Documentation/scheduler/sched-stats.rst
  if (std::ifstream file("/proc/thread-self/schedstat"); file >> ran_ns >> waited_ns) cost.waited_s = 1e-9 * waited_ns;
  return cost;
}

std::vector<std::string> client_warnings(const ClientHealth& health, const LoadSummary& summary) {
  std::vector<std::string> warnings;
  const std::string blame = "client was the bottleneck: ";
  if (health.loop_delay_ms > std::max(kLeastLoopDelayMs, 0.25 * summary.ttft_ms.p50))
    warnings.push_back(fmt::format("{}its own timers were up to {:.0f} ms late", blame, health.loop_delay_ms));
  if (summary.read_wait_ms.p99 > std::max(kLeastReadWaitMs, 0.2 * summary.itl_ms.p50))
    warnings.push_back(fmt::format("{}received bytes lay unread for up to {:.1f} ms (p99)", blame, summary.read_wait_ms.p99));
  if (health.elapsed_s < kLeastRun_s) return warnings;
  if (health.cpu_s > kBusyShare * health.elapsed_s) warnings.push_back(blame + "it kept one core busy");
  if (health.waited_s > kWaitedShare * health.elapsed_s)
    warnings.push_back(fmt::format("{}it waited for a CPU during {:.0f} % of the run: other load on this machine", blame,
                                   100 * health.waited_s / health.elapsed_s));
  return warnings;
}

}  // namespace hyperloom

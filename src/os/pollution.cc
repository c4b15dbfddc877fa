#include "os/pollution.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hyperloom {
namespace {

std::string names_of(const std::vector<NamedLoad>& loads) {
  std::vector<std::string> texts;
  for (const NamedLoad& load : loads) texts.push_back(fmt::format("{} {:.2f}", load.name, load.cores));
  return join(texts, ", ");
}

}  // namespace

std::vector<std::string> pollution(const Neighbours& n, const NeighbourLimits& limits) {
  std::vector<std::string> breaches;
  const auto check = [&](const char* what, double value, double limit, const char* unit,
                         const std::string& mend) {
    if (value > limit)
      breaches.push_back(
          fmt::format("{} {:.2f} {} (limit {:.2f}): {}", what, value, unit, limit, mend));
  };
  const std::string busiest = n.busiest.empty() ? "" : "; busiest: " + names_of(n.busiest);
  check("other processes used", n.foreign_cpu, limits.foreign_cpu, "cores on average",
        "stop them, or measure when they rest" + busiest);
  check("other processes used", n.foreign_cpu_peak, limits.foreign_cpu_peak,
        "cores in the worst second", "look for timers and cron jobs" + busiest);
  check("the hypervisor took", n.steal, limits.steal, "cores",
        "the host is shared; measure at a calmer time");
  check("swapped", n.swap_mib, limits.swap_mib, "MiB",
        "free memory, or use a smaller model or context");
  if (n.throttles && *n.throttles > limits.throttles)
    breaches.push_back(fmt::format(
        "the CPU slowed down for heat {:.0f} times (limit {:.0f}): cool it, or use fewer cores",
        *n.throttles, limits.throttles));
  return breaches;
}

std::string recorded_text(const Neighbours& n) {
  std::vector<std::string> parts;
  if (n.clock_mhz)
    parts.push_back(fmt::format("clock {:.0f} MHz (lowest {:.0f})", *n.clock_mhz,
                                n.clock_lowest_mhz.value_or(*n.clock_mhz)));
  if (n.speed_msteps_s && *n.speed_msteps_s > 0)
    parts.push_back(fmt::format("speed probe {:.0f} (lowest {:.0f} %)", *n.speed_msteps_s,
                                100 * n.speed_lowest_msteps_s.value_or(0) / *n.speed_msteps_s));
  if (n.temperature_c) parts.push_back(fmt::format("{:.0f} degrees C", *n.temperature_c));
  if (n.throttles) parts.push_back(fmt::format("slowed for heat {:.0f} times", *n.throttles));
  parts.push_back(fmt::format("run-queue delay {:.1f} %", 100 * n.run_queue_delay));
  const auto stalled = [&](const char* of, const std::optional<double>& share) {
    if (share) parts.push_back(fmt::format("{} waited for {:.0f} %", of, 100 * *share));
  };
  stalled("cores", n.cpu_stalled);
  stalled("memory", n.memory_stalled);
  stalled("disks", n.io_stalled);
  if (!n.busiest.empty()) parts.push_back("busiest others: " + names_of(n.busiest));
  return join(parts, ", ");
}

}  // namespace hyperloom

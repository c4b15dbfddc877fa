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

std::string name_of(const GpuUse& gpu) {
  return fmt::format("GPU {}{}{}", gpu.index, gpu.name.empty() ? "" : " ", gpu.name);
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
  for (const GpuUse& gpu : n.gpus) {
    if (!gpu.ours) continue;
    if (!gpu.strangers.empty())
      breaches.push_back(fmt::format("others computed on {}: {}; stop them, or give them another GPU",
                                     name_of(gpu), join(gpu.strangers, ", ")));
    if (gpu.slowed > limits.gpu_slowed)
      breaches.push_back(fmt::format(
          "{} was slowed down {:.0f} % of the time ({}; limit {:.0f} %): cool it, or lower its power cap",
          name_of(gpu), 100 * gpu.slowed,
          gpu.reasons.empty() ? "heat or hardware" : join(gpu.reasons, ", "),
          100 * limits.gpu_slowed));
  }
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
  for (const GpuUse& gpu : n.gpus) {
    std::string text = name_of(gpu) + (gpu.ours ? "" : " (not ours)");
    if (gpu.clock_mhz)
      text += fmt::format(" {:.0f} MHz (lowest {:.0f})", *gpu.clock_mhz,
                          gpu.clock_lowest_mhz.value_or(*gpu.clock_mhz));
    if (gpu.utilisation) text += fmt::format(" busy {:.0f} %", 100 * *gpu.utilisation);
    if (gpu.temperature_c) text += fmt::format(" {:.0f} degrees C", *gpu.temperature_c);
    if (gpu.memory_peak_mib) text += fmt::format(" {:.1f} GiB", *gpu.memory_peak_mib / 1024);
    parts.push_back(text + (gpu.reasons.empty() ? "" : " " + join(gpu.reasons, " ")));
  }
  if (!n.busiest.empty()) parts.push_back("busiest others: " + names_of(n.busiest));
  return join(parts, ", ");
}

}  // namespace hyperloom

// What on this host makes noise, as far as the legs of a study show it, and what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "base/text.h"
#include "cli/noise_study.h"
#include "stats/quantile.h"

namespace hyperloom {
namespace {

constexpr double kBusyCores = 0.05, kSteal = 0.01, kShortWindow_s = 5, kVoidShare = 0.1;
constexpr double kStalled = 0.01;          // of the time, for memory
constexpr double kDiskStalled = 0.10;      // logs and the like are normal
constexpr double kQueueDelay = 0.02;
constexpr double kSpeedSpread = 0.02;      // sd over legs of what a core does

using Of = std::function<std::optional<double>(const Neighbours&)>;

std::vector<double> told(const NoiseStudy& s, const Of& of) {
  std::vector<double> values;
  for (const AaLeg& leg : s.legs)
    if (const auto value = leg.seen.seconds > 0 ? of(leg.seen) : std::nullopt) values.push_back(*value);
  return values;
}

// Mean cores by name over all legs, void ones too: those are void for a reason.
std::string busiest_of(const NoiseStudy& s) {
  std::map<std::string, double> cores;
  double legs = 0;
  const auto add = [&](const Neighbours& seen) {
    if (!(seen.seconds > 0)) return;
    ++legs;
    for (const NamedLoad& load : seen.busiest) cores[load.name] += load.cores;
  };
  for (const AaLeg& leg : s.legs) add(leg.seen);
  for (const AaVoid& v : s.voids) add(v.seen);
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, sum] : cores) order.emplace_back(-sum / legs, name);
  std::sort(order.begin(), order.end());
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min<size_t>(order.size(), 3); ++i)
    texts.push_back(fmt::format("{} {:.2f}", order[i].second, -order[i].first));
  return join(texts, ", ");
}

void advise_on_cores(const NoiseStudy& s, std::vector<std::string>& lines) {
  std::vector<double> foreign, steal;
  for (const AaLeg& leg : s.legs) foreign.push_back(leg.foreign_cpu), steal.push_back(leg.steal);
  if (!s.governor.empty() && s.governor != "performance")
    lines.push_back("the CPU governor is " + s.governor + ": `sudo cpupower frequency-set -g performance`");
  const std::string who = busiest_of(s);
  if (mean(foreign) > kBusyCores || !who.empty())
    lines.push_back(fmt::format("other processes used {:.2f} cores on average{}: stop them, or give machine.cpus fewer cores than {}", mean(foreign),
                                who.empty() ? std::string() : " (" + who + ")", s.cores));
  if (!s.busy_now.empty()) lines.push_back("busy right now: " + join(s.busy_now, ", "));
  if (mean(steal) > kSteal)
    lines.push_back(fmt::format("the hypervisor took {:.2f} cores: dedicated or pinned virtual cores would not be shared", mean(steal)));
  if (const double delay = mean(told(s, [](const Neighbours& n) { return std::optional(n.run_queue_delay); })); delay > kQueueDelay)
    lines.push_back(fmt::format("the server's threads waited {:.1f} % of their time for a core without need: pin the server with `taskset`, and give "
                                "it fewer threads than cores", 100 * delay));
  if (s.numa_nodes > 1 && !s.pinned)
    lines.push_back(fmt::format("{} NUMA nodes and the engine is not pinned: `numactl --cpunodebind=0 --membind=0` makes boots alike", s.numa_nodes));
}

void advise_on_clocks(const NoiseStudy& s, std::vector<std::string>& lines) {
  const auto speed = told(s, [](const Neighbours& n) { return n.speed_msteps_s; });
  if (speed.size() >= 4 && sample_sd(speed) > kSpeedSpread * mean(speed))
    lines.push_back(fmt::format("a core's own speed differs by {:.1f} % (1 sd) from leg to leg: turbo, heat or a shared core; fix the clock (turbo off) or "
                                "take dedicated cores", 100 * sample_sd(speed) / mean(speed)));
  const auto throttled = told(s, [](const Neighbours& n) { return n.throttles; });
  if (mean(throttled) > 0) lines.push_back("the CPU slowed down for heat: better cooling, or fewer cores");
  bool unfixed = false;
  for (const AaLeg& leg : s.legs)
    for (const GpuUse& gpu : leg.seen.gpus)
      unfixed |= gpu.ours && gpu.vendor == "nvidia" && gpu.clock_mhz && gpu.clock_lowest_mhz && *gpu.clock_lowest_mhz < 0.9 * *gpu.clock_mhz;
  if (unfixed) lines.push_back("the GPU's clock wandered within legs: `sudo nvidia-smi --lock-gpu-clocks=MHZ` holds it");
}

}  // namespace

std::vector<std::string> advice(const NoiseStudy& s) {
  std::vector<std::string> lines;
  advise_on_cores(s, lines);
  advise_on_clocks(s, lines);
  if (const double share = mean(told(s, [](const Neighbours& n) { return n.memory_stalled; })); share > kStalled)
    lines.push_back(fmt::format("tasks waited for memory {:.0f} % of the time: free some, or use a smaller model or context", 100 * share));
  if (const double share = mean(told(s, [](const Neighbours& n) { return n.io_stalled; })); share > kDiskStalled)
    lines.push_back(fmt::format("tasks waited for disks {:.0f} % of the time: look for backups, indexing and logging", 100 * share));
  std::vector<double> window, requests;
  for (const AaLeg& leg : s.legs) window.push_back(leg.window_s), requests.push_back(leg.requests);
  if (!window.empty() && median(window) < kShortWindow_s)
    lines.push_back(fmt::format("a leg measures only {:.1f} s ({:.0f} requests): a larger budget.time_s makes legs longer and quieter", median(window),
                                median(requests)));
  const double all = static_cast<double>(s.legs.size() + s.voids.size());
  if (all > 0 && static_cast<double>(s.voids.size()) / all > kVoidShare)
    lines.push_back("many legs were void: each costs a boot; choose a quieter hour or machine");
  return lines;
}

}  // namespace hyperloom

#include "os/gpu_use.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "os/child.h"
#include "os/nvml.h"
#include "os/procfs.h"

namespace hyperloom {
namespace {

constexpr double kToolLimit_s = 20;
constexpr double kBusy = 0.05;  // a GPU below that serves nobody

std::optional<double> greater(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::max(*a, *b) : a ? a : b;
}

std::string ask(const std::vector<std::string>& argv) {
  try {
    const RunResult result = run_child({.argv = argv}, kToolLimit_s);
    return result.status.ok() && !result.timed_out ? result.output : "";
  } catch (const Error&) {  // not installed
    return "";
  }
}

}  // namespace

void GpuSums::Told::add(const std::optional<double>& value, double for_s) {
  if (!value || for_s <= 0) return;
  lowest = seconds > 0 ? std::min(lowest, *value) : *value;
  weighted += *value * for_s;
  seconds += for_s;
}

void GpuSums::add(const std::vector<GpuSample>& samples, double seconds) {
  for (const GpuSample& sample : samples) {
    auto [at, fresh] = gpus_.try_emplace({sample.vendor, sample.index});
    One& one = at->second;
    if (fresh) one.first = sample;
    one.last = sample;
    one.clock.add(sample.clock_mhz, seconds);
    one.utilisation.add(sample.utilisation, seconds);
    one.hottest_c = greater(one.hottest_c, sample.temperature_c);
    one.memory_peak_mib = greater(one.memory_peak_mib, sample.memory_used_mib);
    one.seconds += seconds;
    if (sample.slowed) one.slowed_s += seconds;
    if (seconds > 0 || sample.slowed)  // before the load it idles, of course
      one.reasons.insert(sample.reasons.begin(), sample.reasons.end());
    for (const pid_t pid : sample.processes) {
      if (one.processes.count(pid)) continue;
      const auto stat = read_stat(pid);
      one.processes[pid] = stat ? one_line(stat->name) : "?";
    }
  }
}

std::vector<GpuUse> GpuSums::result(const std::set<ProcessKey>& ours) const {
  std::set<pid_t> our_pids;
  for (const ProcessKey& key : ours) our_pids.insert(key.first);
  std::vector<GpuUse> uses;
  for (const auto& [key, one] : gpus_) {
    GpuUse use;
    use.vendor = key.first;
    use.index = key.second;
    use.name = one_line(one.last.name);
    if (one.clock.seconds > 0) {
      use.clock_mhz = one.clock.weighted / one.clock.seconds;
      use.clock_lowest_mhz = one.clock.lowest;
    }
    if (one.utilisation.seconds > 0)
      use.utilisation = one.utilisation.weighted / one.utilisation.seconds;
    use.temperature_c = one.hottest_c;
    use.memory_peak_mib = one.memory_peak_mib;
    use.memory_total_mib = one.last.memory_total_mib;
    // A counter knows every moment of the leg, samples only their own.
    const GpuSample &first = one.first, &last = one.last;
    if (first.slowed_ticks && last.slowed_ticks && first.all_ticks && last.all_ticks &&
        *last.all_ticks > *first.all_ticks)
      use.slowed = std::clamp((*last.slowed_ticks - *first.slowed_ticks) /
                                  (*last.all_ticks - *first.all_ticks), 0.0, 1.0);
    else if (one.seconds > 0)
      use.slowed = one.slowed_s / one.seconds;
    use.reasons.assign(one.reasons.begin(), one.reasons.end());
    for (const auto& [pid, name] : one.processes) use.ours |= our_pids.count(pid) > 0;
    for (const auto& [pid, name] : one.processes)
      if (use.ours && !our_pids.count(pid))
        use.strangers.push_back(name + " (pid " + std::to_string(pid) + ")");
    use.ours |= one.processes.empty() && use.utilisation.value_or(0) > kBusy;
    uses.push_back(std::move(use));
  }
  return uses;
}

GpuReader::GpuReader(const GpuSources& sources)
    : amd_smi_(sources.amd_smi), nvml_(Nvml::open(sources.nvml)) {}
GpuReader::~GpuReader() = default;

std::vector<GpuSample> GpuReader::cheap() const {
  return nvml_ ? nvml_->sample() : std::vector<GpuSample>();
}

std::vector<GpuSample> GpuReader::dear() const {
  if (amd_smi_.empty()) return {};
  std::vector<GpuSample> samples = parse_amd_metric(ask({amd_smi_, "metric", "--json"}));
  if (!samples.empty()) add_amd_processes(ask({amd_smi_, "process", "--json"}), samples);
  return samples;
}

}  // namespace hyperloom

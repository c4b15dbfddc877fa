// What a vendor's library or tool says of the GPUs at one moment. A number here voids legs or is
// shown; none decides a comparison (design law: only legs decide).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyperloom {

struct GpuSample {
  int index = 0;  // as the vendor counts
  std::string vendor, name;
  // Absent where this GPU, driver or tool does not tell.
  std::optional<double> clock_mhz, memory_clock_mhz;
  std::optional<double> temperature_c, utilisation;  // utilisation 0..1
  std::optional<double> memory_used_mib, memory_total_mib;
  // Why clocks are lower than they could be. `slowed`: by heat or hardware, so that the same work
  // takes longer than at other times; the others (idle, power cap, a set clock) belong to normal
  // service.
  bool slowed = false;
  std::vector<std::string> reasons;
  // Ticks spent slowed by heat or hardware since the driver was loaded, and all ticks.
  std::optional<double> slowed_ticks, all_ticks;
  std::vector<pid_t> processes;  // that compute on it; in the driver's numbers, see gpu_use.h
};

// Reasons of nvmlDeviceGetCurrentClocksEventReasons, a bit mask: names into `reasons`, and `slowed`.
void read_clock_reasons(uint64_t mask, GpuSample& sample);

// Output of `amd-smi metric --json` and `amd-smi process --json`, of ROCm 6 and 7. What is missing,
// "N/A" or of another type stays absent. Text that is no such output: no GPUs.
std::vector<GpuSample> parse_amd_metric(std::string_view json);
// Adds to `gpus`, by index, who holds memory on each: the tool lists every process under every GPU.
void add_amd_processes(std::string_view json, std::vector<GpuSample>& gpus);

}  // namespace hyperloom

// Any bytes as amd-smi's output: no crash, and figures within what their words promise.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "os/gpu_use.h"

using namespace hyperloom;

namespace {

void require(bool holds) {
  if (!holds) abort();
}

}  // namespace

// Up to the first zero byte the output of `metric`, the rest that of `process`.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view metric = all.substr(0, all.find('\0'));
  std::vector<GpuSample> gpus = parse_amd_metric(metric);
  if (metric.size() < all.size()) add_amd_processes(all.substr(metric.size() + 1), gpus);
  for (const GpuSample& gpu : gpus) {
    require(gpu.index >= 0);
    require(!gpu.utilisation || (*gpu.utilisation >= 0 && *gpu.utilisation <= 1));
    for (const pid_t pid : gpu.processes) require(pid > 0);
  }
  GpuSums sums;
  for (GpuSample& gpu : gpus) gpu.processes.resize(std::min<size_t>(gpu.processes.size(), 2));   // names are looked up
  sums.add(gpus, 0.5);
  sums.add(gpus, 0.5);
  for (const GpuUse& use : sums.result({{7, 1}})) {
    require(use.slowed >= 0 && use.slowed <= 1);
    (void)Json(use).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return 0;
}

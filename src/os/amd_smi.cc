// The shapes that amd-smi prints: a list of GPUs (ROCm 6.0 to 6.3) or {"gpu_data": list} (since),
// each figure a number, {"value", "unit"}, or "N/A".
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "os/gpu_sample.h"
#include "os/tool_json.h"

namespace hyperloom {
namespace {

const Json* member(const Json* object, const char* name) {
  if (!object || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

// A figure in its own unit; bytes in MiB.
std::optional<double> figure(const Json* json) {
  if (!json) return {};
  std::string unit;
  if (json->is_object()) {
    if (const Json* text = member(json, "unit"); text && text->is_string())
      unit = text->get<std::string>();
    json = member(json, "value");
  }
  if (!json || !json->is_number()) return {};
  const double value = json->get<double>();
  if (!std::isfinite(value)) return {};
  const double mib = unit == "B"    ? 1.0 / (1 << 20)
                     : unit == "KB" ? 1.0 / 1024
                     : unit == "GB" ? 1024.0
                                    : 1.0;
  return value * mib;
}

std::optional<double> figure(const Json* object, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = figure(member(object, name))) return found;
  return {};
}

const Json* gpus_of(const Json& json) {
  const Json* list = json.is_object() ? member(&json, "gpu_data") : &json;
  return list && list->is_array() ? list : nullptr;
}

std::optional<int> index_of(const Json& gpu) {
  const Json* index = member(&gpu, "gpu");
  if (!index || !index->is_number_integer()) return {};
  const auto number = index->get<int64_t>();
  return number >= 0 && number < 1024 ? std::optional(static_cast<int>(number)) : std::nullopt;
}

// The clock of the first engine that tells one: {"gfx_0": {"clk": figure}} or {"gfx": ...}.
std::optional<double> clock_of(const Json* gpu, const std::string& prefix) {
  const Json* clocks = member(gpu, "clock");
  if (!clocks || !clocks->is_object()) return {};
  for (const auto& [name, clock] : clocks->items()) {
    if (!starts_with(name, prefix)) continue;
    if (const auto mhz = figure(&clock, {"clk", "cur_clk"})) return mhz;
  }
  return {};
}

void read_throttling(const Json* throttle, GpuSample& sample) {
  // Package power tracking (ppt) is a power cap: normal service.
  for (const char* cause : {"prochot", "socket_thermal", "vr_thermal", "hbm_thermal"}) {
    const std::string name = cause;
    if (const auto count = figure(member(throttle, (name + "_accumulated").c_str())))
      sample.slowed_ticks = sample.slowed_ticks.value_or(0) + *count;
    const Json* status = member(throttle, (name + "_violation_status").c_str());
    if (!status || *status != "ACTIVE") continue;
    sample.slowed = true;
    sample.reasons.push_back(name);
  }
  sample.all_ticks = figure(throttle, {"accumulation_counter"});
  if (const Json* power = member(throttle, "ppt_violation_status"); power && *power == "ACTIVE")
    sample.reasons.push_back("power_cap");
}

// Memory that one process holds on one GPU; 0 also for those that the tool lists without any.
double memory_of(const Json* process) {
  const auto vram = figure(member(member(process, "memory_usage"), "vram_mem"));
  return std::max(vram.value_or(0), figure(process, {"mem_usage", "mem"}).value_or(0));
}

}  // namespace

std::vector<GpuSample> parse_amd_metric(std::string_view text) {
  std::vector<GpuSample> samples;
  const Json json = parse_after_noise(text);
  const Json* list = gpus_of(json);
  if (!list) return samples;
  for (const Json& gpu : *list) {
    const auto index = index_of(gpu);
    if (!index) continue;
    GpuSample sample;
    sample.index = *index;
    sample.vendor = "amd";
    sample.clock_mhz = clock_of(&gpu, "gfx");
    sample.memory_clock_mhz = clock_of(&gpu, "mem");
    sample.temperature_c = figure(member(&gpu, "temperature"), {"hotspot", "edge"});
    if (const auto percent = figure(member(&gpu, "usage"), {"gfx_activity"}))
      sample.utilisation = std::clamp(*percent / 100, 0.0, 1.0);
    sample.memory_used_mib = figure(member(&gpu, "mem_usage"), {"used_vram"});
    sample.memory_total_mib = figure(member(&gpu, "mem_usage"), {"total_vram"});
    read_throttling(member(&gpu, "throttle"), sample);
    samples.push_back(std::move(sample));
  }
  return samples;
}

void add_amd_processes(std::string_view text, std::vector<GpuSample>& gpus) {
  const Json json = parse_after_noise(text);
  const Json* list = gpus_of(json);
  if (!list) return;
  for (const Json& gpu : *list) {
    const auto index = index_of(gpu);
    const auto known = std::find_if(gpus.begin(), gpus.end(), [&](const GpuSample& sample) {
      return index && sample.index == *index;
    });
    const Json* processes = member(&gpu, "process_list");
    if (known == gpus.end() || !processes || !processes->is_array()) continue;
    for (const Json& entry : *processes) {
      const Json* process = member(&entry, "process_info");  // or "No running processes detected"
      const Json* pid = member(process, "pid");
      if (!pid || !pid->is_number_integer() || !(memory_of(process) > 0)) continue;
      const auto number = pid->get<int64_t>();
      if (number > 0 && number <= (1 << 22)) known->processes.push_back(static_cast<pid_t>(number));
    }
  }
}

}  // namespace hyperloom

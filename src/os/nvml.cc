// Declarations below are ours, after the reference of the library's C interface: names, argument
// types, constants (docs.nvidia.com/deploy/nvml-api).
#include "os/nvml.h"

#include <dlfcn.h>

#include <algorithm>

namespace hyperloom {
namespace {

using Device = void*;
constexpr int kSuccess = 0, kInsufficientSize = 7;
constexpr unsigned kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;
constexpr unsigned kNameSize = 96;
constexpr unsigned kMostProcesses = 4096;

struct Memory {
  unsigned long long total, free, used;
};
struct Utilisation {
  unsigned gpu, memory;
};
struct Process {  // of the calls ending in _v2 and _v3
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

struct Reason {
  uint64_t bit;
  const char* name;
  bool slows;
};
constexpr Reason kReasons[] = {
    {0x1, "idle", false},          {0x2, "set_clock", false},
    {0x4, "power_cap", false},     {0x8, "hardware_slowdown", true},
    {0x10, "sync_boost", false},   {0x20, "software_thermal", true},
    {0x40, "hardware_thermal", true}, {0x80, "power_brake", true},
    {0x100, "display_clock", false},
};

}  // namespace

void read_clock_reasons(uint64_t mask, GpuSample& sample) {
  for (const Reason& reason : kReasons) {
    if (!(mask & reason.bit)) continue;
    sample.reasons.push_back(reason.name);
    sample.slowed = sample.slowed || reason.slows;
  }
}

struct Nvml::Impl {
  ~Impl() {
    if (initialised) shutdown();
    if (library) ::dlclose(library);
  }

  template <class Function>
  bool find(Function& function, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      function = reinterpret_cast<Function>(::dlsym(library, name));
      if (function) return true;
    }
    return false;
  }

  bool load(const std::string& name) {
    library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    // Needed: without these nothing can be told.
    if (!find(init, {"nvmlInit_v2", "nvmlInit"}) || !find(shutdown, {"nvmlShutdown"}) ||
        !find(count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}) ||
        !find(by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}))
      return false;
    find(device_name, {"nvmlDeviceGetName"});
    find(clock, {"nvmlDeviceGetClockInfo"});
    find(reasons, {"nvmlDeviceGetCurrentClocksEventReasons",
                   "nvmlDeviceGetCurrentClocksThrottleReasons"});
    find(memory, {"nvmlDeviceGetMemoryInfo"});
    find(utilisation, {"nvmlDeviceGetUtilizationRates"});
    find(temperature, {"nvmlDeviceGetTemperature"});
    find(processes, {"nvmlDeviceGetComputeRunningProcesses_v3",
                     "nvmlDeviceGetComputeRunningProcesses_v2"});
    initialised = init() == kSuccess;
    return initialised;
  }

  std::vector<pid_t> pids_on(Device device) const {
    if (!processes) return {};
    std::vector<Process> found(16);
    unsigned size = static_cast<unsigned>(found.size());
    int result = processes(device, &size, found.data());
    // Others may start in between: with room to spare, and once more only.
    if (result == kInsufficientSize) {
      found.resize(std::min(2 * size + 16, kMostProcesses));
      size = static_cast<unsigned>(found.size());
      result = processes(device, &size, found.data());
    }
    std::vector<pid_t> pids;
    if (result != kSuccess) return pids;
    found.resize(std::min<size_t>(size, found.size()));
    for (const Process& process : found)
      if (process.pid > 0) pids.push_back(static_cast<pid_t>(process.pid));
    return pids;
  }

  GpuSample sample(Device device, unsigned index) const {
    GpuSample s;
    s.index = static_cast<int>(index);
    s.vendor = "nvidia";
    char text[kNameSize] = {};
    if (device_name && device_name(device, text, kNameSize) == kSuccess) {
      text[kNameSize - 1] = 0;
      s.name = text;
    }
    unsigned number = 0;
    if (clock && clock(device, kClockSm, &number) == kSuccess) s.clock_mhz = number;
    if (clock && clock(device, kClockMemory, &number) == kSuccess) s.memory_clock_mhz = number;
    if (temperature && temperature(device, kTemperatureGpu, &number) == kSuccess)
      s.temperature_c = number;
    unsigned long long mask = 0;
    if (reasons && reasons(device, &mask) == kSuccess) read_clock_reasons(mask, s);
    Memory bytes{};
    if (memory && memory(device, &bytes) == kSuccess) {
      s.memory_used_mib = static_cast<double>(bytes.used) / (1 << 20);
      s.memory_total_mib = static_cast<double>(bytes.total) / (1 << 20);
    }
    Utilisation percent{};
    if (utilisation && utilisation(device, &percent) == kSuccess)
      s.utilisation = std::min(1.0, percent.gpu / 100.0);
    s.processes = pids_on(device);
    return s;
  }

  void* library = nullptr;
  bool initialised = false;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Device*) = nullptr;
  int (*device_name)(Device, char*, unsigned) = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*reasons)(Device, unsigned long long*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*utilisation)(Device, Utilisation*) = nullptr;
  int (*temperature)(Device, unsigned, unsigned*) = nullptr;
  int (*processes)(Device, unsigned*, Process*) = nullptr;
};

Nvml::Nvml() : impl_(std::make_unique<Impl>()) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& library) {
  std::unique_ptr<Nvml> nvml(new Nvml);
  return nvml->impl_->load(library) ? std::move(nvml) : nullptr;
}

std::vector<GpuSample> Nvml::sample() const {
  std::vector<GpuSample> samples;
  unsigned count = 0;
  if (impl_->count(&count) != kSuccess) return samples;
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    if (impl_->by_index(index, &device) == kSuccess)
      samples.push_back(impl_->sample(device, index));
  }
  return samples;
}

}  // namespace hyperloom

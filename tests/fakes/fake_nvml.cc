// Stands in for libnvidia-ml.so.1. What it tells stands in the file that $FAKE_NVML names, read at each call:
//   init CODE                       what nvmlInit_v2 returns
//   gpu NAME SM MEM MASK UTIL TEMP USED TOTAL      one line a GPU, in order; "-" = not supported
//   process GPU PID                 one line each
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalid = 2, kNotSupported = 3, kSmall = 7;

struct Told {
  int init = kSuccess;
  std::vector<std::vector<std::string>> gpus;
  std::vector<std::pair<unsigned, unsigned>> processes;
};

Told told() {
  Told all;
  const char* file = std::getenv("FAKE_NVML");
  std::ifstream in(file ? file : "");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "init") words >> all.init;
    if (what == "gpu") {
      all.gpus.emplace_back();
      for (std::string word; words >> word;) all.gpus.back().push_back(word);
    }
    if (what == "process") {
      all.processes.emplace_back();
      words >> all.processes.back().first >> all.processes.back().second;
    }
  }
  return all;
}

// The GPU's number is its handle, from 1.
unsigned number_of(void* device) { return static_cast<unsigned>(reinterpret_cast<size_t>(device)) - 1; }

template <class Number>
int answer(void* device, size_t field, Number* out) {
  const Told all = told();
  const unsigned number = number_of(device);
  if (number >= all.gpus.size() || all.gpus[number].size() <= field) return kInvalid;
  const std::string& word = all.gpus[number][field];
  if (word == "-") return kNotSupported;
  *out = static_cast<Number>(std::strtoull(word.c_str(), nullptr, 0));
  return kSuccess;
}

struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

extern "C" {

int nvmlInit_v2() { return told().init; }
int nvmlShutdown() { return kSuccess; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(told().gpus.size());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<size_t>(index) + 1);
  return kSuccess;
}
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  const Told all = told();
  // May leave no end, as a careless library might.
  std::strncpy(name, all.gpus.at(number_of(device)).at(0).c_str(), size);
  return kSuccess;
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  return answer(device, type == 1 ? 1 : 2, mhz);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* mask) {
  return answer(device, 3, mask);
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* gpu_and_memory) {
  gpu_and_memory[1] = 0;
  return answer(device, 4, gpu_and_memory);
}
int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* degrees) {
  return answer(device, 5, degrees);
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  const int used = answer(device, 6, &memory->used), total = answer(device, 7, &memory->total);
  return used ? used : total;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  unsigned found = 0;
  for (const auto& [gpu, pid] : told().processes) {
    if (gpu != number_of(device)) continue;
    if (found < *count) processes[found] = {pid, 1 << 20, ~0u, ~0u};
    ++found;
  }
  const bool small = found > *count;
  *count = found;
  return small ? kSmall : kSuccess;
}
}

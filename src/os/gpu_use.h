// GPUs through a leg: samples added up, and whose they were.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "os/foreign_load.h"
#include "os/gpu_sample.h"

namespace hyperloom {

class Nvml;

struct GpuUse {
  int index = 0;
  std::string vendor, name;
  std::optional<double> clock_mhz, clock_lowest_mhz;  // mean, lowest sample
  std::optional<double> temperature_c;                // hottest sample
  std::optional<double> utilisation;                  // mean, 0..1
  std::optional<double> memory_peak_mib, memory_total_mib;
  double slowed = 0;                 // share of the leg in which heat or hardware held it down
  std::vector<std::string> reasons;  // every one seen, sorted
  // A process of ours computes on it. Also when somebody does whom the driver hides from us, as in
  // a container: then it is taken for us.
  bool ours = false;
  // Processes that are not ours, "python3 (pid 12)", on a GPU on which ours was seen: only that
  // shows that the driver counts processes as we do, and that they can disturb us.
  std::vector<std::string> strangers;
};
void to_json(Json& json, const GpuUse& g);
void from_json(const Json& json, GpuUse& g);

class GpuSums {
 public:
  // `seconds`: the time that these samples stand for; 0 = a moment outside the load, whose clocks and
  // use say nothing.
  void add(const std::vector<GpuSample>& samples, double seconds);
  // `ours`: every process of our family that was ever seen in the leg.
  std::vector<GpuUse> result(const std::set<ProcessKey>& ours) const;

 private:
  struct Told {
    double weighted = 0, seconds = 0, lowest = 0;
    void add(const std::optional<double>& value, double for_s);
  };
  struct One {
    GpuSample first, last;
    Told clock, utilisation;
    std::optional<double> hottest_c, memory_peak_mib;
    double seconds = 0, slowed_s = 0;
    std::set<std::string> reasons;
    std::map<pid_t, std::string> processes;  // with their names, as first seen
  };
  std::map<std::pair<std::string, int>, One> gpus_;  // by vendor and index
};

struct GpuSources {
  std::string nvml = "libnvidia-ml.so.1";
  std::string amd_smi = "amd-smi";
};

// Reads what there is. cheap(): milliseconds, through the leg. dear(): a child process of about a
// second, before and after the load only.
class GpuReader {
 public:
  explicit GpuReader(const GpuSources& sources);
  ~GpuReader();
  std::vector<GpuSample> cheap() const;
  std::vector<GpuSample> dear() const;

 private:
  const std::string amd_smi_;
  std::unique_ptr<Nvml> nvml_;
};

}  // namespace hyperloom

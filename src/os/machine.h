// What this machine is, as far as serving cares; and what its memory and multipliers can do, measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace hyperloom {

struct GpuFacts { std::string vendor, name; double memory_gib = 0; };

struct MachineFacts {
  std::string os, kernel, cpu_vendor, cpu_name;
  int cores = 0;                          // that this process may use
  int numa_nodes = 1;
  uint64_t memory_bytes = 0;              // that this process may use
  uint64_t l2_bytes = 0, l3_bytes = 0;    // all caches of its cores together, each counted once; 0 = not told
  std::vector<std::string> cpu_flags;     // sorted, as /proc/cpuinfo names them
  std::vector<GpuFacts> gpus;
  std::map<std::string, double> tools;    // what builds may use, by the name that packs know: clang = 19, openblas = 1
  bool has_flag(const std::string& flag) const;
  std::string id() const;                 // 12 hex: vendor, name, cores, flags, gpus
};

MachineFacts probe_machine();
void to_json(Json& json, const MachineFacts& facts);
void from_json(const Json& json, MachineFacts& facts);

// Best of several passes on `threads` threads: a roof, so the maximum is the right statistic. Each takes
// about a second. A working set above four times the caches (256 MiB to 2 GiB), or above half of the free
// memory, is measured as that much: the caches are out of play long before.
double measure_bandwidth_gb_s(uint64_t working_set_bytes, int threads);   // reads of a buffer of that size
double measure_peak_gflop_s(int threads);                                 // fp32 multiply-adds, 2 operations each, widest vectors here

}  // namespace hyperloom

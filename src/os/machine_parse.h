// The readers behind probe_machine, over text, so that machines which we do not have can be tested.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/machine.h"

namespace hyperloom {

// Fills cpu_vendor, cpu_name and cpu_flags from /proc/cpuinfo of x86-64 or aarch64.
void parse_cpuinfo(std::string_view text, MachineFacts& facts);
uint64_t parse_size(std::string_view text);  // "32K", "36608K", "2M" of sysfs; bytes
uint64_t parse_meminfo(std::string_view text,
                       std::string_view field);  // "MemTotal"; bytes, 0 = not there
// nvidia-smi --query-gpu=name,memory.total --format=csv,noheader
std::vector<GpuFacts> parse_nvidia_smi(std::string_view text);
std::vector<GpuFacts> parse_rocm_smi(
    std::string_view json);  // --showproductname --showmeminfo vram --json
std::vector<GpuFacts> parse_amd_smi(std::string_view json);  // static --asic --vram --json

std::vector<GpuFacts> probe_gpus();  // by the tools on PATH; none = none

}  // namespace hyperloom

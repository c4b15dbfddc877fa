#include "os/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "os/kernels.h"
#include "os/machine_parse.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Machine, ReadsCpuinfoOfX86) {
  MachineFacts facts;
  parse_cpuinfo(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9654 96-Core Processor\n"
      "flags\t\t: sse2 avx2 fma\n\nprocessor\t: 1\nvendor_id\t: X\nmodel name\t: Y\nflags\t: z\n",
      facts);
  EXPECT_EQ(facts.cpu_vendor, "AuthenticAMD");
  EXPECT_EQ(facts.cpu_name, "AMD EPYC 9654 96-Core Processor");
  EXPECT_THAT(facts.cpu_flags, ElementsAre("avx2", "fma", "sse2"));
  EXPECT_TRUE(facts.has_flag("fma"));
  EXPECT_FALSE(facts.has_flag("avx"));
}

TEST(Machine, ReadsCpuinfoOfArm) {
  MachineFacts facts;
  parse_cpuinfo(
      "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n",
      facts);
  EXPECT_EQ(facts.cpu_vendor, "ARM");
  EXPECT_EQ(facts.cpu_name, "ARM part 0xd40");
  EXPECT_TRUE(facts.has_flag("sve"));
  MachineFacts empty;
  parse_cpuinfo("", empty);
  EXPECT_EQ(empty.cpu_name, "unknown");
}

TEST(Machine, ReadsSizesAndMeminfo) {
  EXPECT_EQ(parse_size("32K"), 32768u);
  EXPECT_EQ(parse_size("2M"), 2u << 20);
  EXPECT_EQ(parse_size("77"), 77u);
  EXPECT_EQ(parse_size(""), 0u);
  EXPECT_EQ(parse_meminfo("MemTotal:  16 kB\nMemAvailable:    8 kB\n", "MemAvailable"), 8192u);
  EXPECT_EQ(parse_meminfo("", "MemTotal"), 0u);
}

TEST(Gpus, NvidiaSmi) {
  const auto gpus = parse_nvidia_smi("NVIDIA H200, 143771 MiB\nNVIDIA GB10, [N/A]\n");
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].vendor, "nvidia");
  EXPECT_EQ(gpus[0].name, "NVIDIA H200");
  EXPECT_NEAR(gpus[0].memory_gib, 140.4, 0.01);
  EXPECT_EQ(gpus[1].memory_gib, 0);
  EXPECT_THAT(parse_nvidia_smi("No devices were found\n"), IsEmpty());
}

TEST(Gpus, RocmSmi) {
  const auto gpus = parse_rocm_smi(
      "WARNING: x\n{\"card0\": {\"Card Series\": \"AMD Instinct MI300X\", \"VRAM Total Memory "
      "(B)\": "
      "\"206141652992\"}, \"system\": {}}");
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].name, "AMD Instinct MI300X");
  EXPECT_NEAR(gpus[0].memory_gib, 191.98, 0.01);
  EXPECT_THAT(parse_rocm_smi("{\"card0\": 3}"), IsEmpty());
}

TEST(Gpus, AmdSmiOldAndNew) {
  const std::string gpu =
      "{\"gpu\": 0, \"asic\": {\"market_name\": \"MI300X\"}, \"vram\": {\"size\": {\"value\": "
      "196592, \"unit\": \"MB\"}}}";
  for (const std::string& text : {"[" + gpu + "]", "{\"gpu_data\": [" + gpu + "]}",
                                  "[WARN] old\n{\"gpu_data\": [" + gpu + "]}"}) {
    const auto gpus = parse_amd_smi(text);
    ASSERT_EQ(gpus.size(), 1u) << text;
    EXPECT_EQ(gpus[0].name, "MI300X");
    EXPECT_NEAR(gpus[0].memory_gib, 191.98, 0.01);
  }
  for (const char* text :
       {"", "[1]", "{\"gpu_data\": 1}", "{]", "[{\"asic\": {}, \"vram\": []}]"}) {
    EXPECT_NO_THROW(parse_amd_smi(text)) << text;
  }
}

TEST(Machine, AToolOnPathIsAskedAndAFailingOneIsNoGpu) {
  TempDir folder;
  const fs::path tool = folder.path() / "nvidia-smi";
  const std::string path = getenv("PATH");
  setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  write_file(
      tool, "#!/bin/sh\n[ \"$1\" = --query-gpu=name,memory.total ] && echo 'Fake GPU, 2048 MiB'\n");
  make_executable(tool);
  auto gpus = probe_gpus();
  ASSERT_FALSE(gpus.empty());
  EXPECT_EQ(gpus[0].name, "Fake GPU");
  EXPECT_EQ(gpus[0].memory_gib, 2);
  write_file(tool, "#!/bin/sh\necho 'NVIDIA-SMI has failed, no driver'; exit 9\n");
  gpus = probe_gpus();
  setenv("PATH", path.c_str(), 1);
  for (const GpuFacts& gpu : gpus) EXPECT_NE(gpu.vendor, "nvidia");
}

TEST(Machine, ProbeKnowsThisMachine) {
  const MachineFacts facts = probe_machine();
  EXPECT_GE(facts.cores, 1);
  EXPECT_GE(facts.numa_nodes, 1);
  EXPECT_GT(facts.memory_bytes, 100u << 20);
  EXPECT_FALSE(facts.cpu_flags.empty());
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_EQ(facts.id().size(), 12u);
}

TEST(Machine, JsonKeepsEverythingAndTheId) {
  MachineFacts facts;
  facts.cpu_vendor = "v", facts.cpu_name = "n", facts.cores = 3, facts.cpu_flags = {"a", "b"};
  facts.memory_bytes = 1ull << 40, facts.l2_bytes = 5, facts.l3_bytes = 6, facts.numa_nodes = 2;
  facts.gpus = {{"amd", "x", 192}};
  const Json json = facts;
  const MachineFacts back = json.get<MachineFacts>();
  EXPECT_EQ(Json(back), json);
  EXPECT_EQ(back.id(), facts.id());
  MachineFacts other = facts;
  other.gpus.clear();
  EXPECT_NE(other.id(), facts.id());
}

TEST(Kernels, EachReadsAllAndComputesWhatItClaims) {
  alignas(64) uint64_t data[64] = {};
  data[0] = 1, data[63] = 2, data[37] = 4;
  EXPECT_EQ(read_all(data, sizeof data), 7u);
  const PeakKernel kernel = widest_peak_kernel();
  EXPECT_GT(kernel.flops_per_round, 0);
  EXPECT_GT(kernel.run(1000), 0);
}

TEST(Roofs, ArePositiveAndNoFasterThanLight) {  // values depend on the machine; sanity is all that
                                                // can be held
  const double small = measure_bandwidth_gb_s(256 << 10, 1);
  EXPECT_GT(small, 0.1);
  EXPECT_LT(small, 1e5);
  EXPECT_GT(measure_bandwidth_gb_s(1, 2), 0);
  const double peak = measure_peak_gflop_s(1);
  EXPECT_GT(peak, 0.05);
  EXPECT_LT(peak, 1e5);
}

}  // namespace
}  // namespace hyperloom

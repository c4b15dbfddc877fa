#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "os/gpu_sample.h"
#include "os/gpu_use.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;

constexpr const char* kMetric = R"({"gpu_data": [{"gpu": 0,
  "usage": {"gfx_activity": {"value": 47, "unit": "%"}, "umc_activity": {"value": 3, "unit": "%"}},
  "clock": {"gfx_0": {"clk": {"value": 2106, "unit": "MHz"}, "min_clk": {"value": 500, "unit": "MHz"}},
            "gfx_1": {"clk": {"value": 9, "unit": "MHz"}}, "mem_0": {"clk": {"value": 1300, "unit": "MHz"}}},
  "temperature": {"edge": "N/A", "hotspot": {"value": 60, "unit": "C"}},
  "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": {"value": 4976, "unit": "MB"}},
  "throttle": {"accumulation_counter": 11240028, "prochot_accumulated": 1, "ppt_accumulated": 77,
               "socket_thermal_accumulated": 20, "vr_thermal_accumulated": "N/A", "hbm_thermal_accumulated": 300,
               "ppt_violation_status": "ACTIVE", "hbm_thermal_violation_status": "NOT ACTIVE"}}]})";

TEST(AmdSmi, Metric) {
  const auto gpus = parse_amd_metric(kMetric);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].vendor, "amd");
  EXPECT_EQ(gpus[0].clock_mhz, 2106);
  EXPECT_EQ(gpus[0].memory_clock_mhz, 1300);
  EXPECT_EQ(gpus[0].temperature_c, 60);
  EXPECT_DOUBLE_EQ(gpus[0].utilisation.value(), 0.47);
  EXPECT_EQ(gpus[0].memory_used_mib, 4976);
  EXPECT_EQ(gpus[0].memory_total_mib, 196592);
  EXPECT_EQ(gpus[0].slowed_ticks, 321);   // without the power cap
  EXPECT_EQ(gpus[0].all_ticks, 11240028);
  EXPECT_FALSE(gpus[0].slowed);
  EXPECT_THAT(gpus[0].reasons, ElementsAre("power_cap"));
}

TEST(AmdSmi, OlderShapesAndGpusThatTellNothing) {
  const auto gpus = parse_amd_metric(
      "WARNING: User is missing the following required groups: render, video.\n[WARN] twice\n"
      R"([{"gpu": 1, "usage": "N/A", "clock": {"gfx": {"cur_clk": 800}},
           "throttle": {"hbm_thermal_violation_status": "ACTIVE"}},
          {"gpu": "N/A"}, 7, {"gpu": -1},
          {"gpu": 2, "temperature": {"edge": {"value": 44, "unit": "C"}, "hotspot": "N/A"},
          "mem_usage": {"used_vram": {"value": 2, "unit": "GB"}}}])");
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].index, 1);
  EXPECT_FALSE(gpus[0].utilisation || gpus[0].memory_used_mib || gpus[0].slowed_ticks);
  EXPECT_EQ(gpus[0].clock_mhz, 800);
  EXPECT_TRUE(gpus[0].slowed);
  EXPECT_THAT(gpus[0].reasons, ElementsAre("hbm_thermal"));
  EXPECT_EQ(gpus[1].temperature_c, 44);
  EXPECT_EQ(gpus[1].memory_used_mib, 2048);
}

TEST(AmdSmi, NoOutputOfItsIsNoGpu) {
  for (const char* text : {"", "no AMD GPU", "[", "{}", "[]", "null", "{\"gpu_data\": 3}", "[WARN]\n[WARN]\n", "\n\n["})
    EXPECT_TRUE(parse_amd_metric(text).empty()) << text;
}

// The tool lists every process under every GPU; those that hold none of its memory are elsewhere.
TEST(AmdSmi, Processes) {
  auto gpus = parse_amd_metric(R"([{"gpu": 0}, {"gpu": 1}, {"gpu": 2}])");
  add_amd_processes(R"([
    {"gpu": 0, "process_list": [{"process_info": "No running processes detected"}]},
    {"gpu": 1, "process_list": [
      {"process_info": {"name": "server", "pid": 42, "memory_usage": {"vram_mem": {"value": 2, "unit": "GB"}}}},
      {"process_info": {"name": "other", "pid": 43, "mem_usage": {"value": 0, "unit": "B"},
                        "memory_usage": {"vram_mem": {"value": 0, "unit": "B"}}}},
      {"process_info": {"name": "old", "pid": 44, "mem": {"value": 6228000, "unit": "B"}}},
      {"process_info": {"name": "N/A", "pid": "N/A"}}, {"process_info": {"pid": -3, "mem": 5}}, 7]},
    {"gpu": 2, "process_list": "N/A"}, {"gpu": 9, "process_list": [{"process_info": {"pid": 42, "mem": 5}}]}])",
                    gpus);
  EXPECT_TRUE(gpus[0].processes.empty());
  EXPECT_THAT(gpus[1].processes, ElementsAre(42, 44));
  EXPECT_TRUE(gpus[2].processes.empty());
  add_amd_processes("no JSON", gpus);
  EXPECT_THAT(gpus[1].processes, ElementsAre(42, 44));
}

TEST(AmdSmi, TheToolIsAskedAndItsAbsenceIsNoError) {
  const TempDir dir;
  const fs::path tool = dir.path() / "amd-smi";
  EXPECT_TRUE(GpuReader({"none.so", tool.string()}).dear().empty());
  write_file(tool, std::string("#!/bin/sh\ncase $1 in metric) cat <<'END'\n") + kMetric +
                       "\nEND\n;; process) echo "
                       "'[{\"gpu\":0,\"process_list\":[{\"process_info\":{\"pid\":7,\"mem\":9}}]}]';; esac\n");
  make_executable(tool);
  const auto gpus = GpuReader({"none.so", tool.string()}).dear();
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_THAT(gpus[0].processes, ElementsAre(7));
}

}  // namespace
}  // namespace hyperloom

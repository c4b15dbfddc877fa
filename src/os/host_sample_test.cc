#include "os/host_sample.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "os/foreign_load.h"
#include "os/speed_probe.h"

namespace hyperloom {
namespace {

// A planted /proc and /sys.
class Host : public testing::Test {
 protected:
  void plant(const std::string& file, const std::string& content) {
    make_folders((root_.path() / file).parent_path());
    write_file(root_.path() / file, content);
  }
  void plant_cpu(int cpu, const std::string& khz, int core_throttles, int package,
                 int package_throttles) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
    if (!khz.empty()) plant(folder + "/cpufreq/scaling_cur_freq", khz + "\n");
    plant(folder + "/thermal_throttle/core_throttle_count", std::to_string(core_throttles) + "\n");
    plant(folder + "/thermal_throttle/package_throttle_count",
          std::to_string(package_throttles) + "\n");
    plant(folder + "/topology/physical_package_id", std::to_string(package) + "\n");
  }
  HostSample read() const { return HostReader(root_.path()).read(); }

  TempDir root_;
};

TEST_F(Host, AnEmptyMachineTellsNothingAndNothingFails) {
  const HostSample s = read();
  EXPECT_EQ(s.busy_ticks + s.steal_ticks + s.swapped_pages, 0u);
  EXPECT_FALSE(s.clock_mhz || s.temperature_c || s.throttles);
  EXPECT_FALSE(s.cpu_stall_us || s.memory_stall_us || s.io_stall_us);
}

TEST_F(Host, CountersOfTheKernel) {
  plant("proc/stat", "cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9 9 9\n");
  plant("proc/vmstat", "pgpgin 9\npswpin 3\npswpout 4\npswpin_x 8\n");
  plant("proc/pressure/cpu", "some avg10=1.53 avg60=0.87 avg300=0.73 total=7051\n");
  plant("proc/pressure/io",
        "full avg10=0 avg60=0 avg300=0 total=9\nsome avg10=0 avg60=0 avg300=0 total=12\n");
  plant("proc/pressure/memory", "some avg10=0.00 total=x\n");
  const HostSample s = read();
  EXPECT_EQ(s.busy_ticks, 1u + 2 + 4 + 32 + 64);
  EXPECT_EQ(s.steal_ticks, 128u);
  EXPECT_EQ(s.swapped_pages, 7u);
  EXPECT_EQ(s.cpu_stall_us, 7051u);
  EXPECT_EQ(s.io_stall_us, 12u);
  EXPECT_FALSE(s.memory_stall_us);
}

TEST_F(Host, TheFastestCoreAndEachPackageOnce) {
  plant_cpu(0, "800000", 2, 0, 10);
  plant_cpu(1, "3400000", 1, 0, 10);
  plant_cpu(10, "1200000", 0, 1, 5);
  plant("sys/devices/system/cpu/cpufreq/boost", "1");
  plant("sys/devices/system/cpu/cpuidle/x", "1");
  const HostSample s = read();
  EXPECT_DOUBLE_EQ(s.clock_mhz.value(), 3400);
  EXPECT_EQ(s.throttles.value(), 2u + 1 + 10 + 5);
}

TEST_F(Host, AVirtualMachineTellsNoClock) {
  plant_cpu(0, "", 0, 0, 0);
  plant_cpu(1, "<unknown>", 0, 0, 0);
  EXPECT_FALSE(read().clock_mhz);
  EXPECT_EQ(read().throttles.value(), 0u);
}

TEST_F(Host, OnlySensorsOfTheCpuCount) {
  plant("sys/class/thermal/thermal_zone0/type", "acpitz\n");
  plant("sys/class/thermal/thermal_zone0/temp", "97000\n");
  EXPECT_FALSE(read().temperature_c);
  plant("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
  plant("sys/class/thermal/thermal_zone1/temp", "61500\n");
  plant("sys/class/thermal/thermal_zone2/type", "cpu-thermal\n");
  plant("sys/class/thermal/thermal_zone2/temp", "-274000\n");  // not connected
  EXPECT_DOUBLE_EQ(read().temperature_c.value(), 61.5);
  plant("sys/class/hwmon/hwmon0/name", "nvme\n");
  plant("sys/class/hwmon/hwmon0/temp1_input", "99000\n");
  plant("sys/class/hwmon/hwmon3/name", "k10temp\n");
  plant("sys/class/hwmon/hwmon3/temp1_input", "70250\n");
  EXPECT_DOUBLE_EQ(read().temperature_c.value(), 70.25) << "the chip's own driver comes first";
}

TEST_F(Host, WhoElseUsedTheMachine) {
  const auto process = [&](const std::string& pid, const std::string& name, int user, int reaped) {
    plant("proc/" + pid + "/stat", pid + " (" + name + ") S 1 1 1 0 -1 0 0 0 0 0 " +
                                       std::to_string(user) + " 0 " + std::to_string(reaped) +
                                       " 0 20 0 1 0 " + pid + "00 0 0 0\n");
  };
  plant("proc/stat", "cpu 1\n");
  plant("proc/self/stat", "");
  process("10", "idle one", 5, 0);
  process("11", "make", 0, 100);
  process("12", "server", 100, 0);
  const auto before = read_process_times(root_.path() / "proc");
  ASSERT_EQ(before.size(), 3u);
  process("11", "make", 1, 150);
  process("12", "server", 900, 0);
  process("13", "cc1plus", 60, 0);
  process("14", "cc1plus", 49, 0);
  process("15", "a\x1b[2J", 3, 0);
  const auto after = read_process_times(root_.path() / "proc");
  const auto found = busiest(before, after, {{12, 1200}}, 100);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "cc1plus");
  EXPECT_DOUBLE_EQ(found[0].cores, 1.09);
  EXPECT_EQ(found[1].name, "make");
  EXPECT_DOUBLE_EQ(found[1].cores, 0.51);
  EXPECT_EQ(found[2].name.find('\x1b'), std::string::npos);
  EXPECT_TRUE(busiest(before, after, {}, 0).empty());
}

TEST(SpeedProbe, RunsAndCostsLittle) {
  EXPECT_GT(probe_speed_msteps_s(), 1) << "a million steps a second: any machine of this century";
}

}  // namespace
}  // namespace hyperloom

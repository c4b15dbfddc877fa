#include "os/gpu_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "os/child.h"
#include "os/nvml.h"
#include "os/pollution.h"
#include "os/procfs.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GpuSample sample(double clock_mhz, std::vector<pid_t> processes) {
  GpuSample s;
  s.vendor = "nvidia";
  s.clock_mhz = clock_mhz;
  s.processes = std::move(processes);
  return s;
}

const std::set<ProcessKey> kOurs = {{100, 1}, {101, 1}};

TEST(ClockReasons, HeatAndHardwareSlowTheRestIsNormalService) {
  GpuSample s;
  read_clock_reasons(0x1 | 0x2 | 0x4 | 0x10 | 0x100, s);
  EXPECT_FALSE(s.slowed);
  EXPECT_THAT(s.reasons, ElementsAre("idle", "set_clock", "power_cap", "sync_boost", "display_clock"));
  for (const uint64_t bit : {0x8, 0x20, 0x40, 0x80}) {
    GpuSample one;
    read_clock_reasons(bit | (1ull << 40), one);  // a reason of the future
    EXPECT_TRUE(one.slowed) << bit;
    EXPECT_EQ(one.reasons.size(), 1u);
  }
}

TEST(GpuSums, ClocksOverTheLegAndTheShareSlowed) {
  GpuSums sums;
  sums.add({sample(300, {})}, 0);  // before the load
  for (const double mhz : {1800.0, 1800.0, 900.0, 1800.0}) {
    GpuSample s = sample(mhz, {100});
    s.slowed = mhz < 1000;
    s.utilisation = 0.5;
    s.temperature_c = 90 - mhz / 100;
    if (s.slowed) s.reasons = {"hardware_thermal"};
    sums.add({s}, 0.5);
  }
  const GpuUse use = sums.result(kOurs).at(0);
  EXPECT_DOUBLE_EQ(use.clock_mhz.value(), 1575);
  EXPECT_DOUBLE_EQ(use.clock_lowest_mhz.value(), 900);
  EXPECT_DOUBLE_EQ(use.slowed, 0.25);
  EXPECT_DOUBLE_EQ(use.temperature_c.value(), 81);
  EXPECT_TRUE(use.ours);
  EXPECT_THAT(use.strangers, IsEmpty());
  Neighbours n;
  n.gpus = {use};
  EXPECT_THAT(pollution(n, {}), ElementsAre(HasSubstr("slowed down 25 % of the time (hardware_thermal; limit 1 %)")));
  n.gpus[0].ours = false;
  EXPECT_THAT(pollution(n, {}), IsEmpty()) << "another's GPU may get as hot as it likes";
}

TEST(GpuSums, StrangersOnOurGpuAndNowhereElse) {
  GpuSums sums;
  GpuSample ours = sample(1800, {101, 999999}), theirs = sample(1800, {999998});
  theirs.index = 1;
  sums.add({ours, theirs}, 0.5);
  const auto uses = sums.result(kOurs);
  EXPECT_THAT(uses.at(0).strangers, ElementsAre("? (pid 999999)"));
  EXPECT_THAT(uses.at(1).strangers, IsEmpty());
  Neighbours n;
  n.gpus = uses;
  EXPECT_THAT(pollution(n, {}), ElementsAre(HasSubstr("others computed on GPU 0: ? (pid 999999)")));
}

// In a container the driver may count processes of the host: then nobody there is known to be a stranger.
TEST(GpuSums, WithoutOursAmongThemNobodyIsAStranger) {
  GpuSums sums;
  sums.add({sample(1800, {5, 6})}, 0.5);
  EXPECT_FALSE(sums.result(kOurs).at(0).ours);
  EXPECT_THAT(sums.result(kOurs).at(0).strangers, IsEmpty());
}

TEST(GpuSums, ABusyGpuWithoutAnybodyIsTakenForOurs) {
  for (const auto& [busy, ours] : {std::pair(0.0, false), {0.9, true}}) {
    GpuSums sums;
    GpuSample s = sample(1800, {});
    s.utilisation = busy;
    sums.add({s}, 0.5);
    EXPECT_EQ(sums.result(kOurs).at(0).ours, ours);
  }
}

TEST(GpuSums, ACounterKnowsMoreThanSamples) {
  GpuSums sums;
  for (const double ticks : {100.0, 150.0}) {
    GpuSample s = sample(0, {100});
    s.vendor = "amd";
    s.slowed_ticks = ticks;
    s.all_ticks = 1000 + 20 * ticks;
    sums.add({s}, 0);
  }
  EXPECT_DOUBLE_EQ(sums.result(kOurs).at(0).slowed, 0.05);
  EXPECT_FALSE(sums.result(kOurs).at(0).clock_mhz) << "clocks outside the load say nothing";
}

TEST(GpuUse, JsonKeepsAll) {
  GpuUse use;
  use.vendor = "amd", use.name = "x", use.index = 3, use.slowed = 0.5, use.ours = true;
  use.reasons = {"vr_thermal"}, use.strangers = {"a (pid 1)"};
  EXPECT_EQ(Json(use).size(), 7u);
  double value = 1;
  for (auto* field : {&use.clock_mhz, &use.clock_lowest_mhz, &use.temperature_c, &use.utilisation,
                      &use.memory_peak_mib, &use.memory_total_mib})
    *field = value++;
  const Json json = use;
  EXPECT_EQ(Json(json.get<GpuUse>()), json);
  EXPECT_EQ(json.at("memory_total_mib"), 6);
  Neighbours n;
  n.gpus = {use, use};
  EXPECT_EQ(Json(Json(n).get<Neighbours>()), Json(n));
}

class FakeNvml : public testing::Test {
 protected:
  void tell(const std::string& text) { write_file(file_, text); }
  void SetUp() override { ::setenv("FAKE_NVML", file_.c_str(), 1); }
  void TearDown() override { ::unsetenv("FAKE_NVML"); }
  TempDir dir_;
  const fs::path file_ = dir_.path() / "told";
};

TEST_F(FakeNvml, NoLibraryNoGpus) {
  EXPECT_FALSE(Nvml::open("libhyperloom-not-there.so.1"));
  EXPECT_FALSE(Nvml::open("libm.so.6")) << "a library, but another one";
  tell("init 9\n");  // driver not loaded
  EXPECT_FALSE(Nvml::open(HYPERLOOM_FAKE_NVML));
}

TEST_F(FakeNvml, TellsWhatEachGpuTells) {
  tell("gpu H 1980 2619 0x24 87 71 1048576000 2097152000\ngpu - - - - - - - -\nprocess 0 12\nprocess 1 13\n");
  const auto nvml = Nvml::open(HYPERLOOM_FAKE_NVML);
  ASSERT_TRUE(nvml);
  const auto gpus = nvml->sample();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].name, "H");
  EXPECT_EQ(gpus[0].clock_mhz, 1980);
  EXPECT_EQ(gpus[0].memory_clock_mhz, 2619);
  EXPECT_TRUE(gpus[0].slowed);
  EXPECT_THAT(gpus[0].reasons, ElementsAre("power_cap", "software_thermal"));
  EXPECT_EQ(gpus[0].utilisation, 0.87);
  EXPECT_EQ(gpus[0].temperature_c, 71);
  EXPECT_EQ(gpus[0].memory_used_mib, 1000);
  EXPECT_EQ(gpus[0].memory_total_mib, 2000);
  EXPECT_THAT(gpus[0].processes, ElementsAre(12));
  EXPECT_FALSE(gpus[1].clock_mhz || gpus[1].utilisation || gpus[1].memory_used_mib || gpus[1].temperature_c);
  EXPECT_THAT(gpus[1].processes, ElementsAre(13));
}

TEST_F(FakeNvml, ManyProcessesAndALongName) {
  std::string text = "gpu " + std::string(300, 'x') + " 1 1 0 0 1 1 1\n";
  for (int pid = 1; pid <= 100; ++pid) text += "process 0 " + std::to_string(pid) + "\n";
  tell(text);
  const auto gpus = Nvml::open(HYPERLOOM_FAKE_NVML)->sample();
  EXPECT_EQ(gpus.at(0).processes.size(), 100u);
  EXPECT_EQ(gpus.at(0).name.size(), 95u);
}

TEST_F(FakeNvml, TheSentinelSeesOursAndStrangers) {
  const auto server = Child::spawn({.argv = {"sleep", "60"}});
  const pid_t ours = server->handle().pid;
  tell("gpu H 1980 2619 0x40 87 71 1048576000 2097152000\nprocess 0 " + std::to_string(ours) +
       "\nprocess 0 1\n");
  Sentinel sentinel(ours, {HYPERLOOM_FAKE_NVML, ""});
  const Neighbours n = sentinel.finish();
  ASSERT_EQ(n.gpus.size(), 1u);
  EXPECT_TRUE(n.gpus[0].ours);
  EXPECT_THAT(n.gpus[0].strangers, ElementsAre(HasSubstr("(pid 1)")));
  EXPECT_GT(n.gpus[0].slowed, 0.9);
  EXPECT_EQ(n.gpus[0].memory_peak_mib, 1000);
  server->stop(0, 9);
}

}  // namespace
}  // namespace hyperloom

#include "os/neighbours.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hyperloom {
namespace {

ProcStat process(pid_t pid, uint64_t cpu, uint64_t reaped = 0) {
  ProcStat stat;
  stat.pid = pid;
  stat.start_ticks = 1000 + static_cast<uint64_t>(pid);
  stat.cpu_ticks = cpu;
  stat.reaped_ticks = reaped;
  return stat;
}

// At 100 ticks a second; process 1 is ourselves.
Snapshot snapshot(double at_s, uint64_t busy, const std::vector<ProcStat>& family) {
  Snapshot s;
  s.at_s = at_s;
  s.host.busy_ticks = busy;
  s.self = 1;
  for (const ProcStat& stat : family) s.family[{stat.pid, stat.start_ticks}] = stat;
  return s;
}

Neighbours sum(const std::vector<Snapshot>& snapshots, double cores = 2) {
  NeighbourSums sums({100, cores, 4096});
  for (size_t i = 1; i < snapshots.size(); ++i) sums.add(snapshots[i - 1], snapshots[i]);
  return sums.result();
}

TEST(Neighbours, WhatTheFamilyUsesIsNotForeign) {
  const Neighbours n = sum({snapshot(0, 1000, {process(1, 10), process(2, 100)}),
                            snapshot(1, 1150, {process(1, 20), process(2, 200)})});
  EXPECT_DOUBLE_EQ(n.foreign_cpu, 0.4);
  EXPECT_DOUBLE_EQ(n.own_cpu, 1.0);
  EXPECT_DOUBLE_EQ(n.foreign_cpu_peak, 0.4);
  EXPECT_DOUBLE_EQ(n.seconds, 1);
}

TEST(Neighbours, AMemberThatBeganInBetweenIsCountedWhole) {
  EXPECT_EQ(family_ticks(snapshot(0, 0, {process(1, 10)}),
                         snapshot(1, 0, {process(1, 10), process(3, 70, 5)})),
            75u);
}

TEST(Neighbours, AMemberThatEndedLeavesItsTimeToItsParent) {
  // Seen at 50 ticks, ended at 80: its parent reaped 80, of which 30 are new.
  EXPECT_EQ(family_ticks(snapshot(0, 0, {process(1, 10, 7), process(2, 50)}),
                         snapshot(1, 0, {process(1, 12, 87)})),
            32u);
}

TEST(Neighbours, AMemberNeverSeenAliveIsCountedByItsParent) {
  EXPECT_EQ(family_ticks(snapshot(0, 0, {process(1, 0, 0)}), snapshot(1, 0, {process(1, 0, 90)})),
            90u);
}

TEST(Neighbours, AParentWithoutAccountsLosesALittleAndNeverGoesBelowZero) {
  EXPECT_EQ(family_ticks(snapshot(0, 0, {process(1, 0), process(2, 500)}),
                         snapshot(1, 0, {process(1, 3)})),
            3u);
}

TEST(Neighbours, AReusedPidIsAnotherProcess) {
  ProcStat again = process(2, 5);
  again.start_ticks = 9999;
  EXPECT_EQ(family_ticks(snapshot(0, 0, {process(1, 0), process(2, 500)}),
                         snapshot(1, 0, {process(1, 0), again})),
            5u);
}

TEST(Neighbours, ThePeakIsTheWorstSecondAndNotTheWorstSample) {
  std::vector<Snapshot> snapshots;
  uint64_t busy = 0;
  const uint64_t steps[] = {0, 0, 0, 50, 0, 0, 40, 40, 0, 0};  // ticks each half second
  for (int i = 0; i <= 10; ++i) {
    snapshots.push_back(snapshot(i * 0.5, busy, {}));
    if (i < 10) busy += steps[i];
  }
  const Neighbours n = sum(snapshots);
  EXPECT_NEAR(n.foreign_cpu_peak, 0.8, 1e-9);
  EXPECT_NEAR(n.foreign_cpu, 0.26, 1e-9);
}

TEST(Neighbours, SkewBetweenTheAccountsEvensOut) {
  const Neighbours n = sum({snapshot(0, 0, {process(2, 0)}), snapshot(0.5, 45, {process(2, 50)}),
                            snapshot(1.0, 100, {process(2, 100)})});
  EXPECT_NEAR(n.foreign_cpu, 0, 1e-9);
}

TEST(Neighbours, StealAndSwap) {
  Snapshot a = snapshot(0, 0, {}), b = snapshot(2, 0, {});
  b.host.steal_ticks = 20;
  b.host.swapped_pages = 512;
  const Neighbours n = sum({a, b});
  EXPECT_DOUBLE_EQ(n.steal, 0.1);
  EXPECT_DOUBLE_EQ(n.swap_mib, 2);
}

TEST(Neighbours, WaitingOnOnesOwnThreadsIsNoDelay) {
  Snapshot a = snapshot(0, 0, {}), b = snapshot(1, 0, {});
  for (pid_t thread = 1; thread <= 4; ++thread) b.threads[thread] = {500'000'000, 500'000'000};
  EXPECT_NEAR(queue_delay(a, b, 2), 0,
              1e-9);  // four threads on two cores: half of the time waiting
  EXPECT_NEAR(queue_delay(a, b, 4), 0.5, 1e-9);  // four cores were there, somebody else held two
  EXPECT_EQ(queue_delay(a, a, 4), 0);
}

TEST(Neighbours, WhatAMachineDoesNotTellStaysAbsent) {
  const Neighbours n = sum({snapshot(0, 0, {}), snapshot(1, 0, {})});
  EXPECT_FALSE(n.clock_mhz || n.clock_lowest_mhz || n.temperature_c || n.throttles);
  EXPECT_FALSE(n.speed_msteps_s || n.cpu_stalled || n.memory_stalled || n.io_stalled);
}

TEST(Neighbours, ClocksHeatAndPressureOverTheLeg) {
  std::vector<Snapshot> s = {snapshot(0, 0, {}), snapshot(1, 0, {}), snapshot(4, 0, {})};
  const double clocks[] = {9999, 3000, 2000}, heat[] = {99, 70, 80};  // the first closes no window
  for (size_t i = 0; i < 3; ++i) {
    s[i].host.clock_mhz = clocks[i];
    s[i].host.temperature_c = heat[i];
    s[i].speed_msteps_s = clocks[i] / 10;
    s[i].host.throttles = 40 + i;
    s[i].host.cpu_stall_us = 500'000 * i;
    s[i].host.io_stall_us = 9'000'000 * i;  // more than there was time: rounding of the kernel
  }
  const Neighbours n = sum(s);
  EXPECT_DOUBLE_EQ(n.clock_mhz.value(), (3000 * 1 + 2000 * 3) / 4.0);
  EXPECT_DOUBLE_EQ(n.clock_lowest_mhz.value(), 2000);
  EXPECT_DOUBLE_EQ(n.speed_lowest_msteps_s.value(), 200);
  EXPECT_DOUBLE_EQ(n.temperature_c.value(), 80);
  EXPECT_DOUBLE_EQ(n.throttles.value(), 2);
  EXPECT_DOUBLE_EQ(n.cpu_stalled.value(), 0.25);
  EXPECT_DOUBLE_EQ(n.io_stalled.value(), 1);
  EXPECT_FALSE(n.memory_stalled);
}

TEST(Neighbours, ACountThatFallsIsNoThrottling) {  // a core went offline and took its count along
  Snapshot a = snapshot(0, 0, {}), b = snapshot(1, 0, {});
  a.host.throttles = 50, b.host.throttles = 20;
  EXPECT_EQ(sum({a, b}).throttles.value(), 0);
}

TEST(Neighbours, JsonKeepsAllAndReadsWhatOlderJournalsHold) {
  Neighbours n;
  n.seconds = 1, n.foreign_cpu = 2, n.foreign_cpu_peak = 3, n.steal = 4, n.run_queue_delay = 5;
  n.own_cpu = 6, n.swap_mib = 7;
  const Json old = n;
  EXPECT_EQ(old.size(), 7u) << old;
  EXPECT_EQ(Json(old.get<Neighbours>()), old);
  double value = 10;
  for (auto* field : {&n.clock_mhz, &n.clock_lowest_mhz, &n.speed_msteps_s, &n.speed_lowest_msteps_s,
                      &n.temperature_c, &n.throttles, &n.cpu_stalled, &n.memory_stalled, &n.io_stalled})
    *field = value++;
  n.busiest = {{"cc1plus", 0.5}};
  const Json json = n;
  EXPECT_EQ(Json(json.get<Neighbours>()), json);
  EXPECT_EQ(json.at("io_stalled"), 18);
  EXPECT_EQ(json.at("busiest").at(0).at("name"), "cc1plus");
  EXPECT_EQ(json.size(), 17u) << json;
}

}  // namespace
}  // namespace hyperloom

#include "os/sentinel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "os/child.h"
#include "os/event_loop.h"
#include "os/neighbours.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;

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
  s.busy_ticks = busy;
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
  b.steal_ticks = 20;
  b.swapped_pages = 512;
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

TEST(Neighbours, ReadsTheKernelsFiles) {
  Snapshot s;
  parse_cpu_line("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9 9 9\n", s);
  EXPECT_EQ(s.busy_ticks, 1u + 2 + 4 + 32 + 64);
  EXPECT_EQ(s.steal_ticks, 128u);
  EXPECT_EQ(parse_swapped_pages("pgpgin 9\npswpin 3\npswpout 4\npswpin_x 8\n"), 7u);
}

TEST(Pollution, NamesEachBreachWithItsLimit) {
  Neighbours n;
  EXPECT_TRUE(pollution(n, {}).empty());
  n.foreign_cpu = 0.35;
  n.steal = 0.2;
  const auto breaches = pollution(n, {});
  ASSERT_EQ(breaches.size(), 2u);
  EXPECT_THAT(breaches[0], HasSubstr("0.35 cores on average (limit 0.10)"));
  EXPECT_THAT(breaches[1], HasSubstr("hypervisor"));
}

TEST(Pollution, JsonKeepsAll) {
  const Neighbours n{1, 2, 3, 4, 5, 6, 7};
  const Json json = n;
  EXPECT_EQ(Json(json.get<Neighbours>()), json);
  EXPECT_EQ(json["swap_mib"], 7);
}

void burn(double seconds) {
  const double end = EventLoop::now_s() + seconds;
  while (EventLoop::now_s() < end) {
  }
}

// Foreign to the sentinel is who is not below it: so it watches from a forked child, and we burn
// above it.
TEST(Sentinel, ABurnerOutsideTheFamilyIsSeen) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t watcher = fork();
  if (watcher == 0) {
    Sentinel sentinel(getpid());
    usleep(1'200'000);
    const Neighbours n = sentinel.finish();
    (void)!write(ends[1], &n, sizeof n);
    _exit(0);
  }
  const uint64_t before = read_stat(getpid())->cpu_ticks;
  burn(1.1);
  const double burnt =
      static_cast<double>(read_stat(getpid())->cpu_ticks - before) / ticks_per_second();
  Neighbours n;
  EXPECT_EQ(read(ends[0], &n, sizeof n), static_cast<ssize_t>(sizeof n));
  waitpid(watcher, nullptr, 0);
  close(ends[0]), close(ends[1]);
  EXPECT_GT(n.seconds, 1.0);
  EXPECT_GT(n.foreign_cpu * n.seconds, 0.5 * burnt);  // we may have got little of a crowded machine
  EXPECT_GE(n.foreign_cpu_peak, n.foreign_cpu * 0.9);
}

TEST(Sentinel, OurChildrensWorkIsOwn) {
  const auto child =
      Child::spawn({.argv = {"sh", "-c", "(while :; do :; done) & while :; do :; done"}});
  Sentinel sentinel(child->handle().pid);
  usleep(700'000);
  const Neighbours n = sentinel.finish();
  const auto stopped = child->stop(0, 9);
  EXPECT_GT(n.own_cpu * n.seconds, 0.3 * stopped.status.cpu_s);
  EXPECT_GT(n.own_cpu, 0);
  EXPECT_EQ(sentinel.finish().seconds, n.seconds);
}

}  // namespace
}  // namespace hyperloom

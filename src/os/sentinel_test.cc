#include "os/sentinel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "os/child.h"
#include "os/event_loop.h"
#include "os/procfs.h"

namespace hyperloom {
namespace {

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
    const std::string seen = Json(sentinel.finish()).dump();
    (void)!write(ends[1], seen.data(), seen.size());
    _exit(0);
  }
  const uint64_t before = read_stat(getpid())->cpu_ticks;
  burn(1.1);
  const double burnt =
      static_cast<double>(read_stat(getpid())->cpu_ticks - before) / ticks_per_second();
  waitpid(watcher, nullptr, 0);
  char seen[4096];
  const ssize_t size = read(ends[0], seen, sizeof seen);
  ASSERT_GT(size, 0);
  const auto n = Json::parse(seen, seen + size).get<Neighbours>();
  close(ends[0]), close(ends[1]);
  EXPECT_GT(n.seconds, 1.0);
  EXPECT_GT(n.foreign_cpu * n.seconds, 0.5 * burnt);  // we may have got little of a crowded machine
  EXPECT_GE(n.foreign_cpu_peak, n.foreign_cpu * 0.9);
  EXPECT_GT(n.speed_msteps_s.value(), 0);
  EXPECT_LE(n.speed_lowest_msteps_s.value(), n.speed_msteps_s.value());
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

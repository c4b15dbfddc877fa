#include "os/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "base/error.h"

namespace hyperloom {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() { close(ends[0]), close(ends[1]); }
  void put() { EXPECT_EQ(write(ends[1], "x", 1), 1); }
  int ends[2];
};

TEST(EventLoop, TimersFireInOrderAndNeverEarly) {
  EventLoop loop;
  std::vector<int> fired;
  const double start = EventLoop::now_s();
  double at = 0;
  loop.after(0.02, [&] { fired.push_back(2), at = EventLoop::now_s(); });
  loop.after(0.01, [&] { fired.push_back(1); });
  loop.run();
  EXPECT_THAT(fired, testing::ElementsAre(1, 2));
  EXPECT_GE(at - start, 0.02);
  EXPECT_GE(loop.worst_delay_s(), 0);
}

TEST(EventLoop, ACancelledTimerIsSilentEvenFromAnotherTimer) {
  EventLoop loop;
  bool fired = false;
  EventLoop::TimerId second = 0;
  loop.after(0, [&] { loop.cancel(second); });
  second = loop.after(0, [&] { fired = true; });
  loop.run();
  EXPECT_FALSE(fired);
  loop.cancel(12345);
}

TEST(EventLoop, ReadyDescriptorsAreServed) {
  EventLoop loop;
  Pipe pipe;
  uint32_t seen = 0;
  loop.watch(pipe.ends[0], EPOLLIN, [&](uint32_t events) {
    seen = events;
    loop.unwatch(pipe.ends[0]);
  });
  loop.after(0, [&] { pipe.put(); });
  loop.run();  // returns: nothing is left to wait for
  EXPECT_TRUE(seen & EPOLLIN);
}

TEST(EventLoop, WatchingAgainChangesTheAction) {
  EventLoop loop;
  Pipe pipe;
  pipe.put();
  int which = 0;
  loop.watch(pipe.ends[0], EPOLLIN, [&](uint32_t) { which = 1, loop.stop(); });
  loop.watch(pipe.ends[0], EPOLLIN, [&](uint32_t) { which = 2, loop.stop(); });
  loop.run();
  EXPECT_EQ(which, 2);
}

TEST(EventLoop, AnUnwatchedNeighbourOfTheSameRoundIsNotCalled) {
  EventLoop loop;
  Pipe a, b;
  a.put(), b.put();
  int calls = 0;
  const auto only_one = [&](uint32_t) {
    ++calls;
    loop.unwatch(a.ends[0]);
    loop.unwatch(b.ends[0]);
    loop.watch(a.ends[0], EPOLLOUT,
               [&](uint32_t) { calls += 100; });  // a read end never gets writable
    loop.after(0.01, [&] { loop.stop(); });
  };
  loop.watch(a.ends[0], EPOLLIN, only_one);
  loop.watch(b.ends[0], EPOLLIN, only_one);
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, AZeroTimerThatSetsItselfAgainStarvesNobody) {
  EventLoop loop;
  Pipe pipe;
  pipe.put();
  std::function<void()> again = [&] { loop.after(0, again); };
  loop.after(0, again);
  loop.watch(pipe.ends[0], EPOLLIN, [&](uint32_t) { loop.stop(); });
  loop.run();
}

TEST(EventLoop, RunsAgainAfterStopAndAfterAnException) {
  EventLoop loop;
  int rounds = 0;
  loop.after(0, [&] { ++rounds, loop.stop(); });
  loop.after(0, [&] { ++rounds, throw std::runtime_error("x"); });
  loop.run();
  EXPECT_EQ(rounds, 1);
  EXPECT_THROW(loop.run(), std::runtime_error);
  loop.after(0, [&] { ++rounds; });
  loop.run();
  EXPECT_EQ(rounds, 3);
}

TEST(EventLoop, ABadDescriptorIsAnError) {
  EventLoop loop;
  EXPECT_THROW(loop.watch(-1, EPOLLIN, [](uint32_t) {}), Error);
}

}  // namespace
}  // namespace hyperloom

#include "os/procfs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "os/cgroup.h"

namespace hyperloom {
namespace {

TEST(Procfs, ParsesANameWithBracketsAndBlanks) {
  const auto stat = parse_stat(
      "42 (a) (b c) ) S 7 42 40 0 -1 4194560 100 0 0 0 11 5 3 1 -20 0 9 0 12345 1000 20 "
      "18446744073709551615\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->name, "a) (b c) ");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->group, 42);
  EXPECT_EQ(stat->session, 40);
  EXPECT_EQ(stat->cpu_ticks, 16u);
  EXPECT_EQ(stat->reaped_ticks, 4u);
  EXPECT_EQ(stat->start_ticks, 12345u);
}

TEST(Procfs, RefusesWhatIsNoStatLine) {
  for (const char* text : {"", "x", "1 (", "1 (a)", "1 (a) S", "1 (a) S 1 2", ") (", "1 (a) "}) {
    EXPECT_FALSE(parse_stat(text)) << text;
  }
}

TEST(Procfs, KnowsThisProcess) {
  const auto stat = read_stat(getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_EQ(stat->session, getsid(0));
  EXPECT_TRUE(open_process(getpid(), stat->start_ticks));
  EXPECT_FALSE(open_process(getpid(), stat->start_ticks + 1));
  EXPECT_TRUE(send_signal(getpid(), stat->start_ticks, 0));
  EXPECT_FALSE(send_signal(getpid(), stat->start_ticks + 1, 0));
  EXPECT_FALSE(read_stat(-1));
}

TEST(Procfs, DescendantsFollowParentsAndSurviveARing) {
  const auto make = [](pid_t pid, pid_t parent) {
    ProcStat stat;
    stat.pid = pid;
    stat.parent = parent;
    return stat;
  };
  const std::vector<ProcStat> all = {make(1, 0), make(2, 1), make(3, 2), make(4, 3),
                                     make(5, 1), make(6, 7), make(7, 6)};
  const auto pids = [&](pid_t root) {
    std::vector<pid_t> found;
    for (const ProcStat& stat : descendants(all, root)) found.push_back(stat.pid);
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_EQ(pids(2), (std::vector<pid_t>{2, 3, 4}));
  EXPECT_EQ(pids(6), (std::vector<pid_t>{6, 7}));
  EXPECT_EQ(pids(99), (std::vector<pid_t>{}));
}

TEST(Procfs, KnowsWhoHasAFileOpen) {
  const TempDir folder;
  const std::filesystem::path file = folder.path() / "f", other = folder.path() / "other";
  write_file(file, "x");
  write_file(other, "x");
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(has_open(::getpid(), file));
  EXPECT_FALSE(has_open(::getpid(), other));
  EXPECT_FALSE(has_open(::getpid(), folder.path() / "absent"));
  EXPECT_FALSE(has_open(0, file));
}

TEST(Cgroup, FindsOurPlaceInEachHierarchy) {
  const std::string mounts =
      "30 20 0:25 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"
      "31 30 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
      "32 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
  const std::string membership = "4:cpu,cpuacct:/user.slice\n0::/user.slice/session-1.scope\n";
  const auto v2 = find_cgroup(mounts, membership, "");
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->folder, "/sys/fs/cgroup/unified/user.slice/session-1.scope");
  const auto v1 = find_cgroup(mounts, membership, "cpu");
  ASSERT_TRUE(v1);
  EXPECT_EQ(v1->folder, "/sys/fs/cgroup/cpu,cpuacct/user.slice");
  EXPECT_FALSE(find_cgroup(mounts, membership, "memory"));
}

TEST(Cgroup, AContainersMountShowsItsOwnPartAlone) {
  const std::string mounts = "31 30 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  EXPECT_EQ(find_cgroup(mounts, "0::/docker/abc/x\n", "")->folder, "/sys/fs/cgroup/x");
  EXPECT_EQ(find_cgroup(mounts, "0::/docker/abc\n", "")->folder, "/sys/fs/cgroup");
  EXPECT_EQ(find_cgroup(mounts, "0::/elsewhere\n", "")->folder, "/sys/fs/cgroup");
}

TEST(Cgroup, OnlyGroupsThatWeMadeAreOurs) {
  EXPECT_FALSE(is_our_cgroup("/"));
  EXPECT_FALSE(is_our_cgroup("/sys/fs/cgroup/system.slice"));
  EXPECT_FALSE(is_our_cgroup("/tmp/hyperloom-1"));
}

}  // namespace
}  // namespace hyperloom

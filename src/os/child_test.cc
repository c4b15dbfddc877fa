#include "os/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "os/procfs.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::Not;

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    usleep(5000);
  }
  return false;
}

bool lives(pid_t pid) {
  const auto stat = read_stat(pid);
  return stat && !stat->ended();
}

// A shell script that writes pids to a file; `pids(n)` waits until it has written n.
class Script {
 public:
  explicit Script(const std::string& text) {
    spec.argv = {"sh", "-c", text};
    spec.env["PIDS"] = file().string();
  }
  fs::path file() const { return folder_.path() / "pids"; }
  std::vector<pid_t> pids(size_t count) const {
    std::vector<pid_t> found;
    eventually([&] {
      found.clear();
      if (!fs::exists(file())) return false;
      const std::string content = read_file(file());
      for (const auto& word : split_words(content)) found.push_back(std::stoi(word));
      return found.size() >= count && ends_with(content, "\n");
    });
    EXPECT_GE(found.size(), count);
    return found;
  }
  ChildSpec spec;

 private:
  TempDir folder_;
};

TEST(Child, TellsExitCodeSignalAndCost) {
  Script good("exit 3");
  auto child = Child::spawn(good.spec);
  auto status = child->wait(10);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 3);
  EXPECT_FALSE(status->ok());
  EXPECT_EQ(status->text(), "exit code 3");
  EXPECT_GT(status->peak_rss_bytes, 100'000u);
  EXPECT_EQ(child->poll()->code, 3);  // asked again, the same answer

  Script bad("kill -ILL $$");
  status = Child::spawn(bad.spec)->wait(10);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->signal, SIGILL);
  EXPECT_EQ(status->text(), "SIGILL");
}

TEST(Child, AppendsItsOutputAndReadsNothing) {
  TempDir folder;
  ChildSpec spec;
  spec.output = folder.path() / "log";
  write_file(spec.output, "before\n");
  spec.argv = {"sh", "-c", "cat; echo out; echo err >&2; pwd; echo $ADDED"};
  spec.cwd = folder.path();
  spec.env["ADDED"] = "yes";
  ASSERT_TRUE(Child::spawn(spec)->wait(10));
  EXPECT_EQ(read_file(spec.output), "before\nout\nerr\n" + folder.path().string() + "\nyes\n");
}

void expect_refused(const ChildSpec& spec, const std::string& what, const std::string& mend) {
  try {
    Child::spawn(spec);
    FAIL() << "no error for " << spec.argv[0];
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_THAT(error.what(), HasSubstr(what));
    EXPECT_THAT(error.mend(), HasSubstr(mend));
  }
}

TEST(Child, EachExecFailureNamesTheProgramAndTheMend) {
  TempDir folder;
  const auto file = [&](const char* name, const char* content) {
    write_file(folder.path() / name, content);
    return (folder.path() / name).string();
  };
  ChildSpec spec;
  EXPECT_THROW(Child::spawn(spec), Error);
  spec.argv = {"no-such-program-here"};
  expect_refused(spec, "no-such-program-here: not found on PATH", "install");
  spec.argv = {file("plain", "x")};
  expect_refused(spec, spec.argv[0], "chmod +x");
  spec.argv = {folder.path().string()};
  expect_refused(spec, spec.argv[0], "is a folder: name the program in it");
  spec.argv = {file("garbage", "\x01\x02")};
  make_executable(spec.argv[0]);
  expect_refused(spec, spec.argv[0], "no program for this machine");
  spec.argv = {file("script", "#!/no/such/interpreter\n")};
  make_executable(spec.argv[0]);
  expect_refused(spec, spec.argv[0], "interpreter");
  spec.argv = {"sh"};
  spec.cwd = folder.path() / "none";
  expect_refused(spec, (folder.path() / "none").string(), "make the folder");
}

TEST(Child, AFailedSpawnLeavesNoChildBehind) {
  ChildSpec spec;
  spec.argv = {"/etc/hostname"};
  EXPECT_THROW(Child::spawn(spec), Error);
  for (const ProcStat& stat : descendants(all_processes(), getpid())) {
    EXPECT_TRUE(stat.pid == getpid() || !stat.ended()) << "zombie " << stat.pid;
  }
}

TEST(Child, InheritsNoDescriptorMaskOrIgnoredSignal) {
  const int leaked = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a careless library does
  const auto before = signal(SIGPIPE, SIG_IGN);
  const RunResult result =
      run_child({.argv = {"sh", "-c", "ls /proc/$$/fd; exec grep Sig[BI] /proc/self/status"}}, 10);
  signal(SIGPIPE, before);
  close(leaked);
  EXPECT_EQ(result.output.substr(0, 6), "0\n1\n2\n");
  EXPECT_THAT(result.output, HasSubstr("SigIgn:\t0000000000000000"));
  EXPECT_THAT(result.output, HasSubstr("SigBlk:\t0000000000000000"));
}

TEST(Child, AMemoryLimitHolds) {
  ChildSpec spec;
  spec.argv = {"sh", "-c", "ulimit -v"};
  spec.memory_limit_bytes = 512ull << 20;
  EXPECT_EQ(run_child(spec, 10).output, "524288\n");
}

TEST(Child, APoliteChildStopsUnforced) {
  Script script("trap 'exit 7' TERM; echo $$ > $PIDS; while :; do sleep 0.02; done");
  auto child = Child::spawn(script.spec);
  script.pids(1);
  const auto stopped = child->stop(10);
  EXPECT_EQ(stopped.status.code, 7);
  EXPECT_TRUE(stopped.children_gone);
  EXPECT_FALSE(lives(child->handle().pid));
  EXPECT_EQ(child->stop(10).status.code, 7);
  EXPECT_TRUE(child->family().empty());
}

TEST(Child, AChildThatIgnoresTermIsKilled) {
  Script script("trap '' TERM; echo $$ > $PIDS; while :; do sleep 0.05; done");
  auto child = Child::spawn(script.spec);
  script.pids(1);
  const auto stopped = child->stop(0.1);
  EXPECT_TRUE(stopped.forced);
  EXPECT_TRUE(stopped.children_gone);
  EXPECT_EQ(stopped.status.signal, SIGKILL);
  EXPECT_FALSE(lives(child->handle().pid));
}

TEST(Child, GrandchildrenThatFleeAreFoundAndKilled) {
  // One in its own session, one in its own session whose parent is gone, one that also ignores
  // TERM.
  Script script(
      "setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' & "
      "(setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' &) ; "
      "(trap \"\" TERM; setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' &) ; wait");
  auto child = Child::spawn(script.spec);
  const auto pids = script.pids(3);
  const auto family = child->family();
  for (const pid_t pid : pids) EXPECT_THAT(family, testing::Contains(pid));
  EXPECT_THAT(family, testing::Contains(child->handle().pid));
  const auto stopped = child->stop(0.2);
  EXPECT_TRUE(stopped.children_gone);
  EXPECT_TRUE(stopped.forced);
  for (const pid_t pid : pids) EXPECT_FALSE(read_stat(pid)) << pid;  // not even a zombie
}

TEST(Child, StragglersOfADeadRootAreKilled) {
  Script script("(trap '' TERM; setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' &); exit 5");
  auto child = Child::spawn(script.spec);
  const pid_t straggler = script.pids(1)[0];
  ASSERT_TRUE(child->wait(10));
  EXPECT_TRUE(lives(straggler));
  const auto stopped = child->stop(0);
  EXPECT_EQ(stopped.status.code, 5);
  EXPECT_TRUE(stopped.forced);
  EXPECT_FALSE(lives(straggler));
}

TEST(Child, DestructionLeavesNobody) {
  Script script(
      "trap '' TERM; setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' & echo $$ >> $PIDS; wait; "
      "sleep 600");
  auto child = Child::spawn(script.spec);
  const auto pids = script.pids(2);
  const std::string cgroup = child->handle().cgroup;
  child.reset();
  for (const pid_t pid : pids) EXPECT_FALSE(read_stat(pid));
  EXPECT_TRUE(cgroup.empty() || !fs::exists(cgroup));
}

TEST(Child, TwoFamiliesAreNotMixedUp) {
  Script first("(setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' &); exec sleep 600");
  Script second("(setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' &); exec sleep 600");
  auto a = Child::spawn(first.spec), b = Child::spawn(second.spec);
  const pid_t of_a = first.pids(1)[0], of_b = second.pids(1)[0];
  a->stop(1);
  EXPECT_FALSE(lives(of_a));
  EXPECT_TRUE(lives(of_b));
  EXPECT_FALSE(b->poll());
  EXPECT_THAT(b->family(), testing::Contains(of_b));
}

TEST(Child,
     OutlivesTheThreadThatAskedForIt) {  // PDEATHSIG would kill it, were it forked by that thread
  std::unique_ptr<Child> child;
  Script script("exec sleep 600");
  std::thread([&] { child = Child::spawn(script.spec); }).join();
  EXPECT_FALSE(child->wait(0.1));
}

// A process of ours that starts a child and is then killed the hard way. The handle comes by a
// pipe.
ProcessHandle handle_of_a_killed_owner(Script& script, size_t pids) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const auto child = Child::spawn(script.spec);
    const ProcessHandle& handle = child->handle();
    const std::string text = std::to_string(handle.pid) + " " + std::to_string(handle.start_ticks) +
                             " " + handle.boot_id + " " + handle.cgroup + "\n";
    (void)!write(ends[1], text.data(), text.size());
    while (true) pause();
  }
  char buffer[1024];
  const ssize_t count = read(ends[0], buffer, sizeof buffer);
  const auto words =
      split_words(std::string(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0))));
  close(ends[0]);
  close(ends[1]);
  script.pids(pids);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  ProcessHandle handle;
  EXPECT_GE(words.size(), 3u);
  if (words.size() < 3) return handle;
  handle.pid = std::stoi(words[0]);
  handle.start_ticks = std::stoull(words[1]);
  handle.boot_id = words[2];
  if (words.size() > 3) handle.cgroup = words[3];
  return handle;
}

constexpr char kFleeing[] =
    "(trap '' TERM; setsid sh -c 'echo $$ >> $PIDS; exec sleep 600' &) ; sleep 600 & echo $! >> "
    "$PIDS; wait";

TEST(LeftOver, TheRootDiesWithItsOwnerAndTheRestIsKilledLater) {
  Script script(kFleeing);
  const ProcessHandle handle = handle_of_a_killed_owner(script, 2);
  EXPECT_TRUE(eventually([&] { return !lives(handle.pid); }));
  const auto pids = script.pids(2);
  EXPECT_TRUE(kill_left_over(handle));
  for (const pid_t pid : pids) EXPECT_FALSE(lives(pid));
  EXPECT_FALSE(kill_left_over(handle));
  EXPECT_TRUE(handle.cgroup.empty() || !fs::exists(handle.cgroup));
}

TEST(LeftOver, WithoutACgroupSessionAndMarkSuffice) {
  Script script(kFleeing);
  ProcessHandle handle = handle_of_a_killed_owner(script, 2);
  EXPECT_TRUE(eventually([&] { return !lives(handle.pid); }));
  const std::string cgroup = handle.cgroup;
  handle.cgroup.clear();
  EXPECT_TRUE(kill_left_over(handle));
  for (const pid_t pid : script.pids(2)) EXPECT_FALSE(lives(pid));
  if (!cgroup.empty()) rmdir(cgroup.c_str());
}

TEST(LeftOver, AnotherStartTimeOrBootIsLeftAlone) {
  Script script("exec sleep 600");
  auto child = Child::spawn(script.spec);
  ProcessHandle other = child->handle();
  other.cgroup.clear();
  other.start_ticks -= 1;  // an older process that had the same pid
  EXPECT_FALSE(kill_left_over(other));
  other = child->handle();
  other.boot_id = "another";
  EXPECT_FALSE(kill_left_over(other));
  other = child->handle();
  other.pid = 1;
  EXPECT_FALSE(kill_left_over(other));
  EXPECT_FALSE(child->wait(0.05));
  EXPECT_TRUE(kill_left_over(child->handle()));
}

TEST(RunChild, GivesTheOutputAndTheStatus) {
  const RunResult result = run_child({.argv = {"sh", "-c", "echo one; echo two >&2; exit 4"}}, 10);
  EXPECT_EQ(result.output, "one\ntwo\n");
  EXPECT_EQ(result.status.code, 4);
  EXPECT_FALSE(result.timed_out);
}

TEST(RunChild, WritesToTheFileToo) {
  TempDir folder;
  ChildSpec spec;
  spec.argv = {"echo", "hello"};
  spec.output = folder.path() / "log";
  EXPECT_EQ(run_child(spec, 10).output, "hello\n");
  EXPECT_EQ(read_file(spec.output), "hello\n");
}

TEST(RunChild, KillsAtTheLimitAndOnTheFlag) {
  EXPECT_TRUE(run_child({.argv = {"sleep", "600"}}, 0.05).timed_out);
  volatile bool stop = true;
  const RunResult result = run_child({.argv = {"sleep", "600"}}, 600, &stop);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.seconds, 300);
}

TEST(RunChild, DoesNotWaitForAGrandchildThatHoldsThePipe) {
  const RunResult result = run_child({.argv = {"sh", "-c", "setsid sleep 600 & echo done"}}, 60);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "done\n");
}

TEST(RunChild, CapsAFloodAndKeepsBothEnds) {
  const RunResult result = run_child(
      {.argv = {"sh", "-c", "echo first; head -c 9000000 /dev/zero | tr '\\0' x; echo; echo last"}},
      60);
  EXPECT_TRUE(starts_with(result.output, "first\n"));
  EXPECT_TRUE(ends_with(result.output, "\nlast\n"));
  EXPECT_THAT(result.output.size(),
              testing::AllOf(testing::Ge(4u << 20), testing::Le((4u << 20) + 100)));
  EXPECT_NE(result.output.find("bytes left out"), std::string::npos);
}

TEST(CleanEnvironment, SecretsGoAndSettingsStay) {
  const std::map<std::string, bool> stays = {{"HLT_API_KEY", false},
                                             {"HF_TOKEN", false},
                                             {"hlt_apikey", false},
                                             {"PGPASSWORD", false},
                                             {"HLT_SECRET", false},
                                             {"HLT_TOKENS", false},
                                             {"HLT_KEYMAP", true},
                                             {"HLT_MAX_TOKENS", true},
                                             {"TOKENIZERS_PARALLELISM", true},
                                             {"PYTHONDONTWRITEBYTECODE", false},
                                             {"HLT_PLAIN", true}};
  for (const auto& [name, kept] : stays)
    setenv(name.c_str(), name == "HLT_MAX_TOKENS" ? "512" : "v", 1);
  const auto clean = clean_environment();
  for (const auto& [name, kept] : stays) {
    EXPECT_EQ(clean.count(name) == 1, kept) << name;
    unsetenv(name.c_str());
  }
  EXPECT_EQ(clean.at("HLT_PLAIN"), "v");
}

}  // namespace
}  // namespace hyperloom

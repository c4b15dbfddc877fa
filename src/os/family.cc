#include "os/family.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "base/clock.h"
#include "os/cgroup.h"
#include "os/spawn.h"

namespace hyperloom {
namespace {

enum class Mark { Ours, Foreign, Unreadable };

// A title written over the environment (setproctitle, as vLLM's workers do) or an empty one is
// unreadable.
Mark mark_of(pid_t pid, const std::string& ours) {
  const auto environment = read_environment(pid);
  if (!environment) return Mark::Unreadable;
  const auto found = environment->find(kFamilyVariable);
  return found != environment->end() && found->second == ours ? Mark::Ours : Mark::Foreign;
}

}  // namespace

std::vector<ProcStat> living_family(const ProcessHandle& root, Claim claim) {
  const std::vector<ProcStat> all = all_processes();
  const pid_t self = ::getpid();
  const std::string mark = family_mark(root);
  const auto in_cgroup = root.cgroup.empty() ? std::vector<pid_t>() : cgroup_members(root.cgroup);
  bool session_is_ours = claim == Claim::Held;
  bool pid_was_reused = false;
  for (const ProcStat& stat : all) {
    if (stat.pid != root.pid) continue;
    // Linux gives out no pid that is still the number of a group or session: a new owner of the
    // number proves that nobody of the old session is left.
    (stat.start_ticks == root.start_ticks ? session_is_ours : pid_was_reused) = true;
  }

  std::set<pid_t> family;
  const auto is_member = [&](const ProcStat& stat) {
    if (std::find(in_cgroup.begin(), in_cgroup.end(), stat.pid) != in_cgroup.end()) return true;
    if (stat.start_ticks < root.start_ticks) return false;
    const bool same_number = stat.session == root.pid || stat.group == root.pid;
    if (same_number && session_is_ours) return true;
    const Mark found = mark_of(stat.pid, mark);
    return found == Mark::Ours || (found == Mark::Unreadable && same_number && !pid_was_reused);
  };
  for (const ProcStat& stat : all) {
    if (stat.pid == self || stat.pid == 1 || stat.ended() || !is_member(stat)) continue;
    for (const ProcStat& below : descendants(all, stat.pid)) family.insert(below.pid);
  }
  if (session_is_ours) {  // below the root by parent, even while the root is a zombie
    for (const ProcStat& below : descendants(all, root.pid)) family.insert(below.pid);
  }
  family.erase(self);

  std::vector<ProcStat> living;
  for (const ProcStat& stat : all) {
    if (!stat.ended() && family.count(stat.pid)) living.push_back(stat);
  }
  return living;
}

bool wait_until_ended(const std::vector<ProcStat>& members, double seconds) {
  const SystemClock clock;
  const double deadline = clock.mono_s() + seconds;
  for (const ProcStat& member : members) {
    const Descriptor process = open_process(member.pid, member.start_ticks);
    if (!process) continue;
    pollfd ended{process.get(), POLLIN, 0};
    while (true) {
      const double left = std::max(0.0, deadline - clock.mono_s());
      const int ready = ::poll(&ended, 1, static_cast<int>(std::ceil(left * 1000)));
      if (ready > 0) break;
      if (left <= 0) return false;
    }
  }
  return true;
}

Killed kill_family(const ProcessHandle& root, Claim claim, double limit_s) {
  const SystemClock clock;
  const double deadline = clock.mono_s() + limit_s;
  Killed result;
  while (true) {
    const std::vector<ProcStat> members = living_family(root, claim);
    if (members.empty()) return result;
    result.killed = true;
    // At once where one call reaches all, so that nobody forks faster than we kill; then one by
    // one.
    if (!root.cgroup.empty()) kill_cgroup(root.cgroup);
    if (claim == Claim::Held) ::kill(-root.pid, SIGKILL);
    for (const ProcStat& member : members) send_signal(member.pid, member.start_ticks, SIGKILL);
    const double left = deadline - clock.mono_s();
    if (left <= 0) {
      result.all_gone = false;
      return result;
    }
    wait_until_ended(members, std::min(left, 1.0));
  }
}

bool kill_left_over(const ProcessHandle& handle) {
  if (handle.pid <= 1 || handle.boot_id != SystemClock().boot_id()) return false;
  ProcessHandle checked = handle;
  if (!is_our_cgroup(checked.cgroup)) checked.cgroup.clear();
  const Killed result = kill_family(checked, Claim::Left, 10);
  reap_orphans();
  if (!checked.cgroup.empty()) remove_cgroup(checked.cgroup);
  return result.killed;
}

}  // namespace hyperloom

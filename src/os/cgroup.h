// Control groups, as far as we use them: a group of its own for a child (version 2, where we may
// make one), and the limits that stand above us (versions 1 and 2).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hyperloom {

// Makes an empty group under ours; an empty path where that is not allowed. Removed by
// remove_cgroup.
std::filesystem::path make_cgroup(const std::string& name);
bool move_into_cgroup(const std::filesystem::path& group, pid_t pid);
std::vector<pid_t> cgroup_members(const std::filesystem::path& group);  // of nested groups too
void kill_cgroup(const std::filesystem::path& group);                   // SIGKILL to every member
// Removes it and the groups inside; false while somebody lives in it.
bool remove_cgroup(const std::filesystem::path& group);
// Whether a path read back from a journal can be a group that we made: guards against killing
// anything else.
bool is_our_cgroup(const std::filesystem::path& group);

// Cores that the tightest CPU quota from our group up to the root allows; nothing when there is
// none.
std::optional<double> cgroup_cpu_quota();
std::optional<uint64_t> cgroup_memory_limit();

// One mounted hierarchy and our place in it, from /proc/self/mountinfo and /proc/self/cgroup.
struct CgroupPlace {
  std::filesystem::path mount, folder;
};
// `controller` "" means version 2. Nothing when it is not mounted.
std::optional<CgroupPlace> find_cgroup(const std::string& mountinfo, const std::string& membership,
                                       const std::string& controller);

}  // namespace hyperloom

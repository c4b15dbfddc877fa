#include "os/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "base/descriptor.h"
#include "os/procfs.h"

namespace hyperloom {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "hyperloom-";

std::string slurp(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

bool put(const fs::path& file, const std::string& text) {
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return out && ::write(out.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<CgroupPlace> our_place(const std::string& controller) {
  return find_cgroup(slurp("/proc/self/mountinfo"), slurp("/proc/self/cgroup"), controller);
}

std::vector<fs::path> nested(const fs::path& group) {  // parents before children
  std::vector<fs::path> groups;
  std::error_code error;
  if (!fs::is_directory(group, error)) return groups;
  groups.push_back(group);
  for (fs::recursive_directory_iterator at(group, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) groups.push_back(at->path());
  }
  return groups;
}

// The least of what `limit_of` reads in our folder and in every one above it.
template <typename LimitOf>
auto tightest(const std::optional<CgroupPlace>& place, LimitOf limit_of) {
  decltype(limit_of(fs::path())) least;
  if (!place) return least;
  for (fs::path folder = place->folder;; folder = folder.parent_path()) {
    if (const auto limit = limit_of(folder); limit && (!least || *limit < *least)) least = limit;
    if (folder == place->mount || !folder.has_relative_path()) return least;
  }
}

template <typename T>
std::optional<T> least_of(std::optional<T> a, std::optional<T> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

}  // namespace

std::optional<CgroupPlace> find_cgroup(const std::string& mountinfo, const std::string& membership,
                                       const std::string& controller) {
  std::optional<std::string> path;
  for (const std::string& line : split(membership, '\n')) {  // "4:cpu,cpuacct:/user" or "0::/user"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto names = split(line.substr(first + 1, second - first - 1), ',');
    if (std::find(names.begin(), names.end(), controller) != names.end())
      path = line.substr(second + 1);
  }
  if (!path) return {};
  for (const std::string& line : split(mountinfo, '\n')) {
    // id parent dev root mount options ... - type source super_options
    const auto fields = split_words(line);
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 7 || fields.end() - dash < 4) continue;
    const auto options = split(dash[3], ',');
    const bool fits = controller.empty()
                          ? dash[1] == "cgroup2"
                          : dash[1] == "cgroup" && std::find(options.begin(), options.end(),
                                                             controller) != options.end();
    if (!fits) continue;
    const fs::path mount = fields[4];
    // In a container the mount may show only a part of the tree, which our path may or may not
    // name.
    const fs::path inside = fs::path(*path).lexically_relative(fields[3]);
    const bool below = !inside.empty() && *inside.begin() != "..";
    return CgroupPlace{mount, below && inside != "." ? mount / inside : mount};
  }
  return {};
}

fs::path make_cgroup(const std::string& name) {
  const auto place = our_place("");
  if (!place) return {};
  const fs::path group = place->folder / (std::string(kPrefix) + name);
  std::error_code error;
  return fs::create_directory(group, error) ? group : fs::path();
}

bool move_into_cgroup(const fs::path& group, pid_t pid) {
  return put(group / "cgroup.procs", std::to_string(pid));
}

std::vector<pid_t> cgroup_members(const fs::path& group) {
  std::vector<pid_t> members;
  for (const fs::path& one : nested(group)) {
    for (const std::string& word : split_words(slurp(one / "cgroup.procs"))) {
      // 0 stands for a process outside our pid namespace: nothing that we could signal.
      if (const int pid = std::atoi(word.c_str()); pid > 0) members.push_back(pid);
    }
  }
  return members;
}

void kill_cgroup(const fs::path& group) {
  if (put(group / "cgroup.kill", "1")) return;  // Linux 5.14; atomic against forks
  for (const pid_t pid : cgroup_members(group)) {
    const auto stat = read_stat(pid);
    if (stat) send_signal(pid, stat->start_ticks, SIGKILL);
  }
}

bool remove_cgroup(const fs::path& group) {
  auto groups = nested(group);
  std::reverse(groups.begin(), groups.end());
  bool gone = true;
  for (const fs::path& one : groups) gone = ::rmdir(one.c_str()) == 0 && gone;
  return gone;
}

bool is_our_cgroup(const fs::path& group) {
  const auto place = our_place("");
  if (!place || !starts_with(group.filename().string(), kPrefix)) return false;
  const fs::path inside = group.lexically_normal().lexically_relative(place->mount);
  return !inside.empty() && *inside.begin() != "..";
}

std::optional<double> cgroup_cpu_quota() {
  const auto v2 = tightest(our_place(""), [](const fs::path& folder) -> std::optional<double> {
    const auto words = split_words(slurp(folder / "cpu.max"));
    if (words.size() != 2 || words[0] == "max") return {};
    const double period = std::atof(words[1].c_str());
    return period > 0 ? std::optional(std::atof(words[0].c_str()) / period) : std::nullopt;
  });
  const auto v1 = tightest(our_place("cpu"), [](const fs::path& folder) -> std::optional<double> {
    const double quota = std::atof(slurp(folder / "cpu.cfs_quota_us").c_str());  // -1 = none
    const double period = std::atof(slurp(folder / "cpu.cfs_period_us").c_str());
    return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
  });
  return least_of(v1, v2);
}

std::optional<uint64_t> cgroup_memory_limit() {
  const auto limit_in = [](const char* name) {
    return [name](const fs::path& folder) -> std::optional<uint64_t> {
      const std::string text = trim(slurp(folder / name));
      const uint64_t limit =
          text.empty() || text == "max" ? 0 : std::strtoull(text.c_str(), nullptr, 10);
      // Version 1 says "no limit" by a number near 2^63.
      return limit > 0 && limit < (1ull << 60) ? std::optional(limit) : std::nullopt;
    };
  };
  return least_of(tightest(our_place("memory"), limit_in("memory.limit_in_bytes")),
                  tightest(our_place(""), limit_in("memory.max")));
}

}  // namespace hyperloom

#include "os/foreign_load.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "base/printable.h"
#include "os/procfs.h"

namespace hyperloom {
namespace fs = std::filesystem;
namespace {

constexpr double kLeastCores = 0.02;
constexpr size_t kMostNames = 3;

}  // namespace

std::map<ProcessKey, ProcessTime> read_process_times(const fs::path& proc) {
  std::map<ProcessKey, ProcessTime> times;
  std::error_code error;
  for (fs::directory_iterator at(proc, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(at->path() / "stat");
    std::ostringstream line;
    line << in.rdbuf();
    if (const auto stat = parse_stat(line.str()))
      times[{stat->pid, stat->start_ticks}] = {stat->name, stat->total_ticks()};
  }
  return times;
}

std::vector<NamedLoad> busiest(const std::map<ProcessKey, ProcessTime>& before,
                               const std::map<ProcessKey, ProcessTime>& after,
                               const std::set<ProcessKey>& ours, double ticks) {
  if (ticks <= 0) return {};
  std::map<std::string, double> by_name;
  for (const auto& [key, now] : after) {
    if (ours.count(key)) continue;
    const auto found = before.find(key);
    const uint64_t then = found == before.end() ? 0 : found->second.ticks;
    by_name[one_line(now.name)] += static_cast<double>(now.ticks - std::min(now.ticks, then));
  }
  std::vector<NamedLoad> loads;
  for (const auto& [name, used] : by_name)
    if (used / ticks >= kLeastCores) loads.push_back({name, used / ticks});
  std::sort(loads.begin(), loads.end(), [](const NamedLoad& a, const NamedLoad& b) {
    return a.cores != b.cores ? a.cores > b.cores : a.name < b.name;
  });
  loads.resize(std::min(loads.size(), kMostNames));
  return loads;
}

}  // namespace hyperloom

#include "profile/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "os/child.h"

namespace hyperloom {
namespace {

constexpr int kFrequency = 199;   // prime, so that it does not beat with periodic work; costs well under 1 %

KernelTable nothing(const std::string& why) {
  KernelTable table;
  table.source = "none: " + why;
  return table;
}

// No pager, no user configuration, no downloads of debug symbols, no translated messages.
ChildSpec perf(std::vector<std::string> argv) {
  ChildSpec spec;
  spec.argv = std::move(argv);
  spec.argv.insert(spec.argv.begin(), "perf");
  spec.env = {{"LC_ALL", "C"}, {"PERF_CONFIG", "/dev/null"}, {"DEBUGINFOD_URLS", ""}, {"PERF_PAGER", "cat"}};
  return spec;
}

std::string paranoid_level() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  std::string level;
  file >> level;
  return level;
}

// perf's own words for why it refused, cut to the line that tells.
std::string reason(const RunResult& result) {
  const std::string& text = result.output;
  for (const char* sign : {"perf_event_paranoid", "No permission", "Permission denied", "not permitted", "is limited"}) {
    if (text.find(sign) == std::string::npos) continue;
    const std::string level = paranoid_level();
    return "perf was refused" + (level.empty() ? "" : " (perf_event_paranoid is " + level + ")") +
           "; allow it with `sudo sysctl kernel.perf_event_paranoid=1`";
  }
  if (result.timed_out) return "perf did not end in time";
  for (const std::string& line : clean_log_lines(text, 200)) {
    const std::string trimmed = trim(line);
    if (!trimmed.empty() && trimmed != "Error:") return "perf: " + trimmed;
  }
  return "perf: " + result.status.text();
}

KernelTable sample(const Pack& pack, int pid, double seconds, const fs::path& data, const std::string& event) {
  std::vector<std::string> argv = {"record", "-q", "-F", std::to_string(kFrequency), "-o", data.string()};
  if (!event.empty()) argv.insert(argv.end(), {"-e", event});
  argv.insert(argv.end(), {"-p", std::to_string(pid), "--", "sleep", fmt::format("{:.3f}", seconds)});
  const RunResult recorded = run_child(perf(std::move(argv)), seconds + 30);
  if (recorded.timed_out || !recorded.status.ok()) return nothing(reason(recorded));
  const RunResult report = run_child(perf({"report", "-i", data.string(), "--stdio", "--no-children", "-g", "none",
                                           "-F", "sample,sym,dso", "-t", "|"}), 60);
  if (report.output.find("has no samples") != std::string::npos) return nothing("perf took no samples");
  if (report.timed_out || !report.status.ok()) return nothing(reason(report));
  return table_from_perf_script(pack, report.output);
}

}  // namespace

KernelTable profile_process(const Pack& pack, int pid, double seconds, const std::filesystem::path& work_dir) {
  if (pid <= 0) return nothing("no process to sample");
  const double span = std::isfinite(seconds) ? std::clamp(seconds, 0.1, 600.0) : 1.0;
  const fs::path data = work_dir / "perf.data";
  try {
    make_folders(work_dir);
    KernelTable table = sample(pack, pid, span, data, "");
    // Virtual machines may offer a cycle counter that never counts, or none.
    if (table.rows.empty()) {
      const std::string first = table.source;
      table = sample(pack, pid, span, data, "cpu-clock");
      if (table.rows.empty()) table.source = first;
      else table.source = "perf (cpu-clock)";
    }
    std::error_code ignored;
    fs::remove(data, ignored);
    return table;
  } catch (const Error& e) {
    return nothing(e.what() + std::string(e.mend().empty() ? "" : "; " + e.mend()));
  }
}

void to_json(Json& json, const KernelTable& table) {
  Json rows = Json::array();
  for (const KernelRow& row : table.rows) {
    rows.push_back({{"symbol", row.symbol}, {"module", row.module}, {"share", row.share}, {"group", row.group}});
  }
  json = {{"rows", rows},
          {"samples", table.samples},
          {"kernel_share", table.kernel_share},
          {"barrier_share", table.barrier_share},
          {"host_share", table.host_share},
          {"source", table.source}};
}

void from_json(const Json& json, KernelTable& table) {
  table = {};
  for (const Json& row : json.value("rows", Json::array())) {
    table.rows.push_back({row.value("symbol", ""), row.value("module", ""), row.value("share", 0.0),
                          row.value("group", "other")});
  }
  table.samples = json.value("samples", 0);
  table.kernel_share = json.value("kernel_share", 0.0);
  table.barrier_share = json.value("barrier_share", 0.0);
  table.host_share = json.value("host_share", 0.0);
  table.source = json.value("source", "");
}

}  // namespace hyperloom

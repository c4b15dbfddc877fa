// Reads `perf report --stdio -F sample,sym,dso -t '|'`:
//   line = samples "|" "[" level "]" symbol "|" module      level: . user, k kernel, g/u guest, H hypervisor
// Everything else (comments, tips, warnings on stderr) is skipped.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>

#include "base/error.h"
#include "base/text.h"
#include "profile/profile.h"

namespace hyperloom {
namespace {

struct Group {
  std::string name;
  std::regex pattern;
  bool barrier = false;
};

std::regex compile(const Pack& pack, const std::string& key, const std::string& pattern) {
  try {
    return std::regex(pattern, std::regex::optimize);
  } catch (const std::regex_error& e) {
    throw bad_input("pack " + pack.name + ": " + key + ": `" + pattern + "` is no regex: " + e.what(),
                    "write an ECMAScript regular expression");
  }
}

// Barriers first: a symbol that both lists name is time spent waiting.
std::vector<Group> groups_of(const Pack& pack) {
  std::vector<Group> groups;
  for (const std::string& text : pack.barrier_symbols) {
    groups.push_back({"barrier", compile(pack, "barrier_symbols", text), true});
  }
  static const std::regex kNamed("^([A-Za-z_][A-Za-z0-9_]*)=(.*)$");
  for (const std::string& text : pack.kernel_symbols) {
    std::smatch match;
    const bool named = std::regex_match(text, match, kNamed);
    groups.push_back({named ? match[1].str() : "kernel",
                      compile(pack, "kernel_symbols", named ? match[2].str() : text), false});
  }
  return groups;
}

// By symbol, else by module: runtimes such as libgomp are often stripped, so that only the file's name
// tells that a sample was spent waiting in a barrier.
const Group* group_for(const std::vector<Group>& groups, const KernelRow& row) {
  for (const Group& group : groups) {
    if (std::regex_search(row.symbol, group.pattern)) return &group;
  }
  for (const Group& group : groups) {
    if (std::regex_search(row.module, group.pattern)) return &group;
  }
  return nullptr;
}

struct Line {
  long samples = 0;
  std::string symbol, module;
};

std::optional<Line> parse_line(const std::string& text) {
  const std::string trimmed = trim(text);
  if (trimmed.empty() || !std::isdigit(static_cast<unsigned char>(trimmed[0]))) return {};
  const std::vector<std::string> cells = split(trimmed, '|');
  if (cells.size() < 3) return {};
  const std::string count = trim(cells[0]);
  if (count.find_first_not_of("0123456789") != std::string::npos || count.size() > 12) return {};
  std::string symbol = trim(cells[1]);
  if (symbol.size() >= 3 && symbol[0] == '[' && symbol[2] == ']') symbol = trim(symbol.substr(3));
  // A stripped module gives one row an address; they say no more than "somewhere in there".
  if (starts_with(symbol, "0x")) symbol = "(no symbols)";
  return Line{std::atol(count.c_str()), symbol, trim(cells[2])};
}

}  // namespace

KernelTable table_from_perf_script(const Pack& pack, const std::string& perf_report_text) {
  std::map<std::pair<std::string, std::string>, long> samples_of;
  long total = 0;
  for (const std::string& text : split(perf_report_text, '\n')) {
    const std::optional<Line> line = parse_line(text);
    if (!line || line->samples <= 0) continue;
    samples_of[{line->symbol, line->module}] += line->samples;
    total += line->samples;
  }
  KernelTable table;
  if (total == 0) {
    table.source = "none: perf took no samples";
    return table;
  }
  const std::vector<Group> groups = groups_of(pack);
  long in_kernels = 0, in_barriers = 0;
  for (const auto& [name, samples] : samples_of) {
    KernelRow row{name.first, name.second, static_cast<double>(samples) / static_cast<double>(total), "other"};
    if (const Group* group = group_for(groups, row)) {
      row.group = group->name;
      (group->barrier ? in_barriers : in_kernels) += samples;
    }
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.share > b.share; });
  table.samples = static_cast<int>(std::min(total, 2000000000L));
  table.kernel_share = static_cast<double>(in_kernels) / static_cast<double>(total);
  table.barrier_share = static_cast<double>(in_barriers) / static_cast<double>(total);
  table.host_share = static_cast<double>(total - in_kernels - in_barriers) / static_cast<double>(total);
  table.source = "perf";
  return table;
}

}  // namespace hyperloom

#include "os/host_sample.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"

namespace hyperloom {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostClocks = 64;  // of a larger machine, as many cores evenly spread
constexpr double kColdest_c = -40, kHottest_c = 150;  // beyond: the sensor is not connected

std::string slurp(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

template <class T>
std::optional<T> number_in(const fs::path& file) {
  const std::string text = trim(slurp(file));
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return {};
  return number;
}

// Entries of `folder` called `prefix` and a number, in order of the number.
std::vector<fs::path> numbered(const fs::path& folder, const std::string& prefix) {
  std::vector<std::pair<long, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!starts_with(name, prefix) || name.size() == prefix.size()) continue;
    if (name.find_first_not_of("0123456789", prefix.size()) != std::string::npos) continue;
    found.emplace_back(std::strtol(name.c_str() + prefix.size(), nullptr, 10), at->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

// Only sensors of the CPU, and of those the one of the package: others say nothing of our clocks,
// and some take milliseconds to answer.
std::vector<fs::path> cpu_sensors(const fs::path& sys) {
  std::vector<fs::path> files;
  static const std::set<std::string> kChips = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
  for (const fs::path& chip : numbered(sys / "class/hwmon", "hwmon")) {
    if (kChips.count(trim(slurp(chip / "name"))) && is_there(chip / "temp1_input"))
      files.push_back(chip / "temp1_input");
  }
  if (!files.empty()) return files;
  for (const fs::path& zone : numbered(sys / "class/thermal", "thermal_zone")) {
    const std::string type = trim(slurp(zone / "type"));
    if (type == "x86_pkg_temp" || starts_with(type, "cpu")) files.push_back(zone / "temp");
  }
  return files;
}

std::optional<uint64_t> sum_of(const std::vector<fs::path>& files, std::optional<uint64_t> sum) {
  for (const fs::path& file : files) {
    if (const auto count = number_in<uint64_t>(file)) sum = sum.value_or(0) + *count;
  }
  return sum;
}

}  // namespace

HostReader::HostReader(const fs::path& root) : proc_(root / "proc") {
  const fs::path sys = root / "sys";
  const std::vector<fs::path> cpus = numbered(sys / "devices/system/cpu", "cpu");
  const size_t step = std::max<size_t>(1, (cpus.size() + kMostClocks - 1) / kMostClocks);
  std::set<std::string> packages;
  for (size_t i = 0; i < cpus.size(); ++i) {
    const fs::path clock = cpus[i] / "cpufreq/scaling_cur_freq";
    if (i % step == 0 && is_there(clock)) clocks_.push_back(clock);
    const fs::path throttle = cpus[i] / "thermal_throttle";
    if (is_there(throttle / "core_throttle_count"))
      core_throttles_.push_back(throttle / "core_throttle_count");
    if (is_there(throttle / "package_throttle_count") &&
        packages.insert(trim(slurp(cpus[i] / "topology/physical_package_id"))).second)
      package_throttles_.push_back(throttle / "package_throttle_count");
  }
  temperatures_ = cpu_sensors(sys);
}

HostSample HostReader::read() const {
  HostSample sample;
  for (const fs::path& file : clocks_) {
    const auto khz = number_in<double>(file);
    if (khz && *khz > 0) sample.clock_mhz = std::max(sample.clock_mhz.value_or(0), *khz / 1000);
  }
  for (const fs::path& file : temperatures_) {
    const auto milli = number_in<double>(file);
    if (!milli || *milli / 1000 < kColdest_c || *milli / 1000 > kHottest_c) continue;
    sample.temperature_c = std::max(sample.temperature_c.value_or(kColdest_c), *milli / 1000);
  }
  sample.throttles = sum_of(package_throttles_, sum_of(core_throttles_, {}));
  sample.cpu_stall_us = parse_pressure(slurp(proc_ / "pressure/cpu"));
  sample.memory_stall_us = parse_pressure(slurp(proc_ / "pressure/memory"));
  sample.io_stall_us = parse_pressure(slurp(proc_ / "pressure/io"));
  sample.swapped_pages = parse_swapped_pages(slurp(proc_ / "vmstat"));
  // Last: whoever samples reads its clock right after.
  parse_cpu_line(slurp(proc_ / "stat"), sample);
  return sample;
}

void parse_cpu_line(std::string_view text, HostSample& sample) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guest is part of user
  // already
  const auto fields = split_words(text.substr(0, text.find('\n')));
  const auto ticks = [&](size_t field) {
    return field < fields.size() ? std::strtoull(fields[field].c_str(), nullptr, 10) : 0ull;
  };
  sample.busy_ticks = ticks(1) + ticks(2) + ticks(3) + ticks(6) + ticks(7);
  sample.steal_ticks = ticks(8);
}

uint64_t parse_swapped_pages(std::string_view text) {
  uint64_t pages = 0;
  for (const std::string& line : split(text, '\n')) {
    if (!starts_with(line, "pswpin ") && !starts_with(line, "pswpout ")) continue;
    pages += std::strtoull(line.c_str() + line.find(' '), nullptr, 10);
  }
  return pages;
}

std::optional<uint64_t> parse_pressure(std::string_view text) {
  for (const std::string& line : split(text, '\n')) {
    if (!starts_with(line, "some ")) continue;
    for (const std::string& word : split_words(line)) {
      uint64_t total = 0;
      if (!starts_with(word, "total=")) continue;
      const auto [end, error] =
          std::from_chars(word.data() + 6, word.data() + word.size(), total);
      if (error == std::errc() && end == word.data() + word.size()) return total;
    }
  }
  return {};
}

}  // namespace hyperloom

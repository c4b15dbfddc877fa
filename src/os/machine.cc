#include "os/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/hash.h"
#include "base/text.h"
#include "os/cgroup.h"
#include "os/machine_parse.h"

namespace hyperloom {
namespace fs = std::filesystem;
namespace {

std::string slurp(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

uint64_t parse_number(std::string_view text, int base = 10) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

std::string os_name() {
  for (const std::string& line : split(slurp("/etc/os-release"), '\n')) {
    if (!starts_with(line, "PRETTY_NAME=")) continue;
    return replace_all(trim(line.substr(12)), "\"", "");
  }
  return "Linux";
}

std::set<int> allowed_cpus() {
  std::set<int> cpus;
  for (size_t room = 1024; room <= (1u << 20);
       room *= 2) {  // a machine may have more than cpu_set_t holds
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(room),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    const size_t bytes = CPU_ALLOC_SIZE(room);
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    for (size_t cpu = 0; cpu < room; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.insert(static_cast<int>(cpu));
    }
    break;
  }
  if (cpus.empty()) {
    for (int cpu = 0; cpu < std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

// Each cache counts once, however many of our cores share it.
void add_caches(const std::set<int>& cpus, MachineFacts& facts) {
  std::map<std::string, uint64_t> l2, l3;
  for (const int cpu : cpus) {
    const fs::path folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
    for (int index = 0; index < 8; ++index) {
      const fs::path cache = folder / ("index" + std::to_string(index));
      const std::string level = trim(slurp(cache / "level"));
      if (level != "2" && level != "3") continue;
      (level == "2" ? l2 : l3)[trim(slurp(cache / "shared_cpu_list"))] =
          parse_size(trim(slurp(cache / "size")));
    }
  }
  for (const auto& [cores, bytes] : l2) facts.l2_bytes += bytes;
  for (const auto& [cores, bytes] : l3) facts.l3_bytes += bytes;
}

int count_numa_nodes() {
  std::error_code error;
  int nodes = 0;
  for (fs::directory_iterator at("/sys/devices/system/node", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (starts_with(name, "node") && name.find_first_not_of("0123456789", 4) == std::string::npos)
      ++nodes;
  }
  return std::max(1, nodes);
}

std::string arm_vendor(uint64_t implementer) {
  static const std::map<uint64_t, std::string> kVendors = {
      {0x41, "ARM"},       {0x43, "Cavium"},    {0x46, "Fujitsu"},
      {0x48, "HiSilicon"}, {0x4e, "NVIDIA"},    {0x51, "Qualcomm"},
      {0x61, "Apple"},     {0x6d, "Microsoft"}, {0xc0, "Ampere"}};
  const auto found = kVendors.find(implementer);
  return found == kVendors.end() ? "unknown" : found->second;
}

}  // namespace

void parse_cpuinfo(std::string_view text, MachineFacts& facts) {
  std::string part;
  for (const std::string& line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "vendor_id" && facts.cpu_vendor.empty()) facts.cpu_vendor = value;
    if (key == "model name" && facts.cpu_name.empty()) facts.cpu_name = value;
    if (key == "CPU implementer" && facts.cpu_vendor.empty() && starts_with(value, "0x")) {
      facts.cpu_vendor = arm_vendor(parse_number(std::string_view(value).substr(2), 16));
    }
    if (key == "CPU part" && part.empty()) part = value;
    if ((key == "flags" || key == "Features") && facts.cpu_flags.empty())
      facts.cpu_flags = split_words(value);
  }
  if (facts.cpu_name.empty() && !part.empty()) facts.cpu_name = facts.cpu_vendor + " part " + part;
  if (facts.cpu_vendor.empty()) facts.cpu_vendor = "unknown";
  if (facts.cpu_name.empty()) facts.cpu_name = "unknown";
  std::sort(facts.cpu_flags.begin(), facts.cpu_flags.end());
}

uint64_t parse_size(std::string_view text) {
  const uint64_t number = parse_number(text);
  const char unit = text.empty() ? ' ' : text.back();
  return unit == 'K'   ? number << 10
         : unit == 'M' ? number << 20
         : unit == 'G' ? number << 30
                       : number;
}

uint64_t parse_meminfo(std::string_view text, std::string_view field) {
  for (const std::string& line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() >= 2 && words[0] == std::string(field) + ":")
      return parse_number(words[1]) * 1024;
  }
  return 0;
}

MachineFacts probe_machine() {
  MachineFacts facts;
  utsname name{};
  if (::uname(&name) == 0) facts.kernel = std::string(name.release) + " " + name.machine;
  facts.os = os_name();
  parse_cpuinfo(slurp("/proc/cpuinfo"), facts);
  const std::set<int> cpus = allowed_cpus();
  facts.cores = static_cast<int>(cpus.size());
  if (const auto quota = cgroup_cpu_quota()) {
    // Rounded down: a thread more than the quota feeds would be throttled in the middle of every
    // period.
    facts.cores = std::clamp(static_cast<int>(std::floor(*quota + 0.01)), 1, facts.cores);
  }
  facts.numa_nodes = count_numa_nodes();
  facts.memory_bytes = parse_meminfo(slurp("/proc/meminfo"), "MemTotal");
  if (const auto limit = cgroup_memory_limit())
    facts.memory_bytes = std::min(facts.memory_bytes, *limit);
  add_caches(cpus, facts);
  facts.gpus = probe_gpus();
  return facts;
}

bool MachineFacts::has_flag(const std::string& flag) const {
  return std::binary_search(cpu_flags.begin(), cpu_flags.end(), flag);
}

std::string MachineFacts::id() const {
  std::string text = cpu_vendor + "\n" + cpu_name + "\n" + std::to_string(cores) + "\n" +
                     join(cpu_flags, " ") + "\n";
  for (const GpuFacts& gpu : gpus) text += gpu.vendor + " " + gpu.name + "\n";
  return sha256_hex(text).substr(0, 12);
}

void to_json(Json& json, const MachineFacts& facts) {
  json = {{"id", facts.id()},
          {"os", facts.os},
          {"kernel", facts.kernel},
          {"cpu_vendor", facts.cpu_vendor},
          {"cpu_name", facts.cpu_name},
          {"cores", facts.cores},
          {"numa_nodes", facts.numa_nodes},
          {"memory_bytes", facts.memory_bytes},
          {"l2_bytes", facts.l2_bytes},
          {"l3_bytes", facts.l3_bytes},
          {"cpu_flags", facts.cpu_flags},
          {"gpus", Json::array()}};
  if (!facts.tools.empty()) json["tools"] = facts.tools;
  for (const GpuFacts& gpu : facts.gpus) {
    json["gpus"].push_back(
        {{"vendor", gpu.vendor}, {"name", gpu.name}, {"memory_gib", gpu.memory_gib}});
  }
}

void from_json(const Json& json, MachineFacts& facts) {
  facts = MachineFacts();
  json.at("os").get_to(facts.os);
  json.at("kernel").get_to(facts.kernel);
  json.at("cpu_vendor").get_to(facts.cpu_vendor);
  json.at("cpu_name").get_to(facts.cpu_name);
  json.at("cores").get_to(facts.cores);
  json.at("numa_nodes").get_to(facts.numa_nodes);
  json.at("memory_bytes").get_to(facts.memory_bytes);
  json.at("l2_bytes").get_to(facts.l2_bytes);
  json.at("l3_bytes").get_to(facts.l3_bytes);
  json.at("cpu_flags").get_to(facts.cpu_flags);
  facts.tools.clear();
  if (json.contains("tools")) json.at("tools").get_to(facts.tools);
  for (const Json& gpu : json.at("gpus")) {
    facts.gpus.push_back({gpu.at("vendor"), gpu.at("name"), gpu.at("memory_gib")});
  }
}

}  // namespace hyperloom

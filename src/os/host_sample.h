// What the kernel tells of the whole host at one moment: counters, clocks, heat, pressure. One
// reading; what it means for a leg is neighbours.h, whether it voids one pollution.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyperloom {

struct HostSample {
  uint64_t busy_ticks = 0;  // of the whole machine: user, nice, system, irq, softirq
  uint64_t steal_ticks = 0;
  uint64_t swapped_pages = 0;  // in and out, since boot
  // Absent where this kernel does not tell (usual in virtual machines and on other architectures).
  std::optional<double> clock_mhz;      // of the fastest core: a busy one, whatever idle ones do
  std::optional<double> temperature_c;  // hottest CPU sensor
  std::optional<uint64_t> throttles;    // times that a core or package slowed down for heat
  // Microseconds since boot in which at least one task waited (pressure stall information, "some").
  std::optional<uint64_t> cpu_stall_us, memory_stall_us, io_stall_us;
};

// Finds the files once, reads them often. `root` holds proc/ and sys/: "/" but for tests. A file
// that is missing, unreadable or nonsense leaves its field absent (counters: 0), never an error.
class HostReader {
 public:
  explicit HostReader(const std::filesystem::path& root = "/");
  HostSample read() const;

 private:
  std::filesystem::path proc_;
  std::vector<std::filesystem::path> clocks_, temperatures_, core_throttles_;
  std::vector<std::filesystem::path> package_throttles_;  // one a package
};

// Busy and steal from the first line of /proc/stat.
void parse_cpu_line(std::string_view text, HostSample& sample);
// pswpin + pswpout of /proc/vmstat.
uint64_t parse_swapped_pages(std::string_view text);
// `total` of the line "some" of /proc/pressure/NAME; microseconds.
std::optional<uint64_t> parse_pressure(std::string_view text);

}  // namespace hyperloom

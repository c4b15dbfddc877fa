#include "os/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace hyperloom {

void parse_cpu_line(std::string_view text, Snapshot& snapshot) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guest is part of user
  // already
  const auto fields = split_words(text.substr(0, text.find('\n')));
  const auto ticks = [&](size_t field) {
    return field < fields.size() ? std::strtoull(fields[field].c_str(), nullptr, 10) : 0ull;
  };
  snapshot.busy_ticks = ticks(1) + ticks(2) + ticks(3) + ticks(6) + ticks(7);
  snapshot.steal_ticks = ticks(8);
}

uint64_t parse_swapped_pages(std::string_view text) {
  uint64_t pages = 0;
  for (const std::string& line : split(text, '\n')) {
    if (!starts_with(line, "pswpin ") && !starts_with(line, "pswpout ")) continue;
    pages += std::strtoull(line.c_str() + line.find(' '), nullptr, 10);
  }
  return pages;
}

uint64_t family_ticks(const Snapshot& before, const Snapshot& after) {
  uint64_t used = 0, reaped = 0, ended_seen = 0;
  for (const auto& [key, now] : after.family) {
    const auto then = before.family.find(key);
    if (then == before.family.end()) {
      used += now.total_ticks();
    } else {
      // Counters of a process only grow; the guard is for a kernel that rounds its split anew.
      used += now.cpu_ticks - std::min(now.cpu_ticks, then->second.cpu_ticks);
      reaped += now.reaped_ticks - std::min(now.reaped_ticks, then->second.reaped_ticks);
    }
  }
  for (const auto& [key, then] : before.family) {
    if (!after.family.count(key)) ended_seen += then.total_ticks();
  }
  return used + (reaped > ended_seen ? reaped - ended_seen : 0);
}

uint64_t self_ticks(const Snapshot& before, const Snapshot& after) {
  for (const auto& [key, now] : after.family) {
    if (key.first != after.self) continue;
    const auto then = before.family.find(key);
    if (then != before.family.end())
      return now.cpu_ticks - std::min(now.cpu_ticks, then->second.cpu_ticks);
  }
  return 0;
}

double queue_delay(const Snapshot& before, const Snapshot& after, double cores) {
  const double seconds = after.at_s - before.at_s;
  if (seconds <= 0) return 0;
  double run_s = 0, wait_s = 0;
  for (const auto& [thread, now] : after.threads) {
    const auto found = before.threads.find(thread);
    const ThreadTime then = found == before.threads.end() ? ThreadTime() : found->second;
    if (now.run_ns < then.run_ns || now.wait_ns < then.wait_ns)
      continue;  // the number of an ended thread, used again
    run_s += static_cast<double>(now.run_ns - then.run_ns) * 1e-9;
    wait_s += static_cast<double>(now.wait_ns - then.wait_ns) * 1e-9;
  }
  const double running = run_s / seconds, waiting = wait_s / seconds;
  if (running + waiting <= 0) return 0;
  const double unavoidable = std::max(0.0, running + waiting - cores);
  return std::max(0.0, waiting - unavoidable) / (running + waiting);
}

void NeighbourSums::add(const Snapshot& before, const Snapshot& after) {
  const double seconds = after.at_s - before.at_s;
  if (seconds <= 0) return;
  const double family_s = static_cast<double>(family_ticks(before, after)) / scale_.ticks_per_s;
  const double self_s = static_cast<double>(self_ticks(before, after)) / scale_.ticks_per_s;
  const double busy_s =
      static_cast<double>(after.busy_ticks - std::min(after.busy_ticks, before.busy_ticks)) /
      scale_.ticks_per_s;
  const double steal_s =
      static_cast<double>(after.steal_ticks - std::min(after.steal_ticks, before.steal_ticks)) /
      scale_.ticks_per_s;
  // May be below 0 in one window: a tick lands in the machine's account before the process's. Over
  // many windows that evens out, so it is added as it is.
  const double foreign_s = busy_s - family_s;
  seconds_ += seconds;
  foreign_s_ += foreign_s;
  own_s_ += std::max(0.0, family_s - self_s);
  steal_s_ += steal_s;
  delay_weighted_ += queue_delay(before, after, scale_.cores) * seconds;
  swap_mib_ += static_cast<double>(after.swapped_pages -
                                   std::min(after.swapped_pages, before.swapped_pages)) *
               scale_.page_bytes / (1 << 20);

  last_second_.push_back({seconds, foreign_s});
  double span = 0, foreign = 0;
  for (const Window& window : last_second_) span += window.seconds, foreign += window.foreign_s;
  while (last_second_.size() > 1 && span - last_second_.front().seconds >= 0.95) {
    span -= last_second_.front().seconds, foreign -= last_second_.front().foreign_s;
    last_second_.erase(last_second_.begin());
  }
  // A leg shorter than a second has no second: then its longest span stands for it.
  const bool whole = span >= 0.95;
  if (whole && longest_ < 0.95) peak_ = 0;
  if (whole || span > longest_) peak_ = std::max(peak_, foreign / span);
  longest_ = std::max(longest_, span);
}

Neighbours NeighbourSums::result() const {
  Neighbours n;
  n.seconds = seconds_;
  if (seconds_ <= 0) return n;
  n.foreign_cpu = std::max(0.0, foreign_s_ / seconds_);
  n.foreign_cpu_peak = std::max(peak_, 0.0);
  n.steal = steal_s_ / seconds_;
  n.run_queue_delay = delay_weighted_ / seconds_;
  n.own_cpu = own_s_ / seconds_;
  n.swap_mib = swap_mib_;
  return n;
}

std::vector<std::string> pollution(const Neighbours& n, const NeighbourLimits& limits) {
  std::vector<std::string> breaches;
  const auto check = [&](const char* what, double value, double limit, const char* unit,
                         const char* mend) {
    if (value > limit)
      breaches.push_back(
          fmt::format("{} {:.2f} {} (limit {:.2f}): {}", what, value, unit, limit, mend));
  };
  check("other processes used", n.foreign_cpu, limits.foreign_cpu, "cores on average",
        "stop them, or measure when they rest");
  check("other processes used", n.foreign_cpu_peak, limits.foreign_cpu_peak,
        "cores in the worst second", "look for timers and cron jobs");
  check("the hypervisor took", n.steal, limits.steal, "cores",
        "the host is shared; measure at a calmer time");
  check("swapped", n.swap_mib, limits.swap_mib, "MiB",
        "free memory, or use a smaller model or context");
  return breaches;
}

void to_json(Json& json, const Neighbours& n) {
  json = {{"seconds", n.seconds},
          {"foreign_cpu", n.foreign_cpu},
          {"foreign_cpu_peak", n.foreign_cpu_peak},
          {"steal", n.steal},
          {"run_queue_delay", n.run_queue_delay},
          {"own_cpu", n.own_cpu},
          {"swap_mib", n.swap_mib}};
}

void from_json(const Json& json, Neighbours& n) {
  json.at("seconds").get_to(n.seconds);
  json.at("foreign_cpu").get_to(n.foreign_cpu);
  json.at("foreign_cpu_peak").get_to(n.foreign_cpu_peak);
  json.at("steal").get_to(n.steal);
  json.at("run_queue_delay").get_to(n.run_queue_delay);
  json.at("own_cpu").get_to(n.own_cpu);
  json.at("swap_mib").get_to(n.swap_mib);
}

}  // namespace hyperloom

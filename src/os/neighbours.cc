#include "os/neighbours.h"

#include <algorithm>

namespace hyperloom {
namespace {

// Counters only grow; the guard is for a kernel that rounds its split anew, or a core that went
// offline.
uint64_t grown(uint64_t before, uint64_t after) { return after - std::min(after, before); }

std::optional<double> stalled_share(const std::optional<uint64_t>& before,
                                    const std::optional<uint64_t>& after, double seconds) {
  if (!before || !after) return {};
  return std::min(1.0, 1e-6 * static_cast<double>(grown(*before, *after)) / seconds);
}

}  // namespace

uint64_t family_ticks(const Snapshot& before, const Snapshot& after) {
  uint64_t used = 0, reaped = 0, ended_seen = 0;
  for (const auto& [key, now] : after.family) {
    const auto then = before.family.find(key);
    if (then == before.family.end()) {
      used += now.total_ticks();
    } else {
      used += grown(then->second.cpu_ticks, now.cpu_ticks);
      reaped += grown(then->second.reaped_ticks, now.reaped_ticks);
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
      return grown(then->second.cpu_ticks, now.cpu_ticks);
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
      static_cast<double>(grown(before.host.busy_ticks, after.host.busy_ticks)) /
      scale_.ticks_per_s;
  const double steal_s =
      static_cast<double>(grown(before.host.steal_ticks, after.host.steal_ticks)) /
      scale_.ticks_per_s;
  // May be below 0 in one window: a tick lands in the machine's account before the process's. Over
  // many windows that evens out, so it is added as it is.
  const double foreign_s = busy_s - family_s;
  seconds_ += seconds;
  foreign_s_ += foreign_s;
  own_s_ += std::max(0.0, family_s - self_s);
  steal_s_ += steal_s;
  delay_weighted_ += queue_delay(before, after, scale_.cores) * seconds;
  swap_mib_ += static_cast<double>(grown(before.host.swapped_pages, after.host.swapped_pages)) *
               scale_.page_bytes / (1 << 20);
  add_told(before, after, seconds);

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

void NeighbourSums::Told::add(double value, double for_s) {
  lowest = seconds > 0 ? std::min(lowest, value) : value;
  highest = seconds > 0 ? std::max(highest, value) : value;
  weighted += value * for_s;
  seconds += for_s;
}

std::optional<double> NeighbourSums::Told::mean() const {
  return seconds > 0 ? std::optional(weighted / seconds) : std::nullopt;
}

void NeighbourSums::add_told(const Snapshot& before, const Snapshot& after, double seconds) {
  const auto add = [&](Told& told, const std::optional<double>& value) {
    if (value) told.add(*value, seconds);
  };
  const HostSample &then = before.host, &now = after.host;
  add(clock_, now.clock_mhz);
  add(temperature_, now.temperature_c);
  if (after.speed_msteps_s > 0) speed_.add(after.speed_msteps_s, seconds);
  add(cpu_stall_, stalled_share(then.cpu_stall_us, now.cpu_stall_us, seconds));
  add(memory_stall_, stalled_share(then.memory_stall_us, now.memory_stall_us, seconds));
  add(io_stall_, stalled_share(then.io_stall_us, now.io_stall_us, seconds));
  if (then.throttles && now.throttles)
    throttles_ =
        throttles_.value_or(0) + static_cast<double>(grown(*then.throttles, *now.throttles));
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
  n.clock_mhz = clock_.mean();
  if (n.clock_mhz) n.clock_lowest_mhz = clock_.lowest;
  n.speed_msteps_s = speed_.mean();
  if (n.speed_msteps_s) n.speed_lowest_msteps_s = speed_.lowest;
  if (temperature_.mean()) n.temperature_c = temperature_.highest;
  n.throttles = throttles_;
  n.cpu_stalled = cpu_stall_.mean();
  n.memory_stalled = memory_stall_.mean();
  n.io_stalled = io_stall_.mean();
  return n;
}

}  // namespace hyperloom

#include "report/neighbour_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report/findings.h"
#include "stats/quantile.h"

namespace hyperloom {
namespace {

std::vector<double> told(const std::vector<const Neighbours*>& legs,
                         const std::function<std::optional<double>(const Neighbours&)>& of) {
  std::vector<double> values;
  for (const Neighbours* leg : legs)
    if (const auto value = of(*leg)) values.push_back(*value);
  return values;
}

double greatest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

std::vector<std::string> neighbour_lines(const SessionState& state) {
  if (!state.probe) return {};
  std::vector<std::string> lines = {"a leg is void with " + limits_text(state.probe->neighbour_limits)};
  if (state.probe->earlier_noise)
    lines.push_back("until its own legs told enough, the noise was started with pairs that `doctor --noise` had measured here");
  std::vector<const Neighbours*> legs;
  for (const LegRecord& leg : state.legs)
    if (leg.good() && leg.done->result->neighbours.seconds > 0)
      legs.push_back(&leg.done->result->neighbours);
  if (legs.empty()) return lines;
  const auto foreign = told(legs, [](const Neighbours& n) { return std::optional(n.foreign_cpu); });
  const auto steal = told(legs, [](const Neighbours& n) { return std::optional(n.steal); });
  std::string seen = fmt::format(
      "in the {} legs that count others used {:.2f} cores on average ({:.2f} in the worst leg), steal {:.3f}",
      legs.size(), mean(foreign), greatest(foreign), mean(steal));
  if (const auto clock = told(legs, [](const Neighbours& n) { return n.clock_mhz; }); !clock.empty())
    seen += fmt::format(", clock {:.0f} to {:.0f} MHz", *std::min_element(clock.begin(), clock.end()),
                        greatest(clock));
  if (const auto speed = told(legs, [](const Neighbours& n) { return n.speed_msteps_s; });
      speed.size() >= 2 && mean(speed) > 0)
    seen += fmt::format(", speed probe equal to within {:.1f} % (1 sd)", 100 * sample_sd(speed) / mean(speed));
  if (const auto heat = told(legs, [](const Neighbours& n) { return n.temperature_c; }); !heat.empty())
    seen += fmt::format(", at most {:.0f} degrees C", greatest(heat));
  lines.push_back(seen);
  return lines;
}

std::vector<std::string> void_lines(const SessionState& state) {
  std::vector<std::string> lines;
  for (const LegRecord& leg : state.legs)
    if (!leg.void_reason.empty() && !void_by_failure(leg))
      lines.push_back(leg.plan.id + " (" + leg.plan.purpose + "): " + leg.void_reason);
  return lines;
}

}  // namespace hyperloom

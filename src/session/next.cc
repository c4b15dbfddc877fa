#include <algorithm>

#include "session/budget.h"
#include "session/profiling.h"
#include "session/rules.h"
#include "session/step_json.h"
#include "base/text.h"

namespace hyperloom {
namespace {

constexpr int kMostCycles = 8;

bool flags_wait(const SessionState& s) {
  return std::any_of(s.proposals.begin(), s.proposals.end(), [](const Proposal& p) {
    return p.intent.phase == "framework" && (p.status == ProposalStatus::Waiting || p.status == ProposalStatus::Screened);
  });
}

Step after_sweep(const Rules&, const SessionState& s) {
  auto close_for = [&](const std::string& reason, const std::string& evidence) { return enter_phase(s, "close", reason, evidence); };
  if (const Intent* alert = s.stop_alert()) return close_for(alert->source, alert->why);
  double need = 3 * pair_cost_s(s) + quality_cost_s(s);
  if (searchable_s(s) < need)
    return close_for("budget", format_duration(std::max(0.0, s.left_s())) + " left, close needs " + format_duration(close_reserve_s(s)) +
                                   ", one more comparison " + format_duration(need));
  if (static_cast<int>(s.comparisons.size()) >= s.workload.comparisons)
    return close_for("alpha_spent", std::to_string(s.workload.comparisons) + " comparisons were declared");
  if (s.keeps_this_cycle == 0) return close_for("no_gain_in_cycle", "cycle " + std::to_string(s.cycle) + " kept nothing");
  if (s.cycle >= kMostCycles) return close_for("hard_ceiling", std::to_string(s.cycle) + " cycles");
  if (!s.profiles.empty() && !s.profiles.back().roofline.points.empty()) {
    bool open = false;
    for (const RoofPoint& point : s.profiles.back().roofline.points) open |= point.open();
    if (!open) return close_for("saturated", "every direction is within its saturation threshold");
  }
  return enter_phase(s, "framework", "progress", std::to_string(s.keeps_this_cycle) + " kept in cycle " + std::to_string(s.cycle), s.cycle + 1);
}

}  // namespace

Step next(const Rules& rules, const SessionState& s) {
  if (s.closed || s.stop_request == "user_stop" || s.stop_request == "fault") return DoFinish{};
  if (s.stop_request == "user_close" && s.phase != "close") return enter_phase(s, "close", "user_close", "asked by the user");
  if (s.phase == "prelude") {
    if (auto step = prelude(rules, s)) return *step;
    return s.stop_alert() ? after_sweep(rules, s) : enter_phase(s, "framework", "prelude_done", "");
  }
  if (s.phase == "framework") {
    // A new cycle looks where the incumbent spends its time, not where stock did.
    if (s.cycle > 1 && !s.stop_alert() && searchable_s(s) > leg_cost_s(s) + 3 * pair_cost_s(s))
      if (auto step = profile_of(rules, s, "best", s.incumbent)) return *step;
    if (auto step = trials(rules, s)) return *step;
    return s.stop_alert() ? after_sweep(rules, s) : enter_phase(s, "kernel", "framework_done", "");
  }
  if (s.phase == "kernel") {
    bool may = s.workload.engine_command.empty() && s.workload.may_touch("build", "build");
    may = may && static_cast<int>(s.comparisons.size()) < s.workload.comparisons;
    if (may && !s.kernel_asked) return DoKernel{searchable_s(s)};
    if (auto step = trials(rules, s)) return *step;
    if (!s.stop_alert() && flags_wait(s)) return enter_phase(s, "framework", "builds_done", "flags wait for the time that builds left over", s.cycle);
    if (s.incumbent == s.enabled->stock) return enter_phase(s, "sweep", "sweep_skipped", "the incumbent is stock: nothing to set against it");
    if (s.swept == s.incumbent.id()) return enter_phase(s, "sweep", "sweep_skipped", "nothing moved since the last sweep");
    return enter_phase(s, "sweep", "kernel_done", "");
  }
  if (s.phase == "sweep") {
    bool skipped = !s.phases.empty() && s.phases.back().reason == "sweep_skipped";
    if (!skipped)
      if (auto step = sweep(rules, s)) return *step;
    return after_sweep(rules, s);
  }
  return close(rules, s);
}

}  // namespace hyperloom

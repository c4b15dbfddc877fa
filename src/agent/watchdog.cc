#include "agent/built_in.h"

namespace hyperloom {
namespace {
constexpr int kVoidsInARow = 8;        // legs of this host in a row without evidence
constexpr size_t kMostProposals = 600; // more than any pack has legal values, for every cycle
constexpr int kFailuresInARow = 6;     // candidates in a row that crash: something else is wrong
}  // namespace

std::optional<Intent> BuiltInWatchdog::watch(const SessionState& state) const {
  auto stop = [&](const std::string& code, const std::string& why) {
    return Intent{.id = "W" + std::to_string(state.alerts.size() + 1), .role = "watchdog", .kind = "stop",
                  .phase = state.phase, .source = code, .why = why};
  };
  if (state.stop_alert()) return {};
  if (state.voids_in_a_row >= kVoidsInARow)
    return stop("host_never_quiet", std::to_string(state.voids_in_a_row) + " legs in a row were spoiled by other load on this host");
  if (state.proposals.size() > kMostProposals)
    return stop("going_in_circles", std::to_string(state.proposals.size()) + " proposals were made: the same ones come again and again");
  int failures = 0;
  for (auto p = state.proposals.rbegin(); p != state.proposals.rend() && p->reverted; ++p) {
    if (p->reverted->code != "failed") break;
    failures++;
  }
  if (failures >= kFailuresInARow) return stop("candidates_keep_failing", std::to_string(failures) + " candidates in a row did not run");
  return {};
}

}  // namespace hyperloom

// A small grid of operating points, stock against incumbent, the best configuration of each.
#include <algorithm>
#include <cmath>

#include "session/budget.h"
#include "session/legs.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

struct Point { int clients, prompt, output; std::string id() const {
  return "c" + std::to_string(clients) + "-p" + std::to_string(prompt) + "-o" + std::to_string(output);
} };

std::vector<Point> grid(const Traffic& traffic) {
  int clients = std::max(1, traffic.clients);
  int p = static_cast<int>(std::lround(traffic.prompt_tokens.mean)), o = static_cast<int>(std::lround(traffic.output_tokens.mean));
  std::vector<Point> points{{clients, 2 * p, std::max(8, o / 2)}};
  if (clients > 1) {
    points.push_back({1, p, o});
    points.push_back({1, 2 * p, std::max(8, o / 2)});
  }
  return points;
}

}  // namespace

std::optional<Step> sweep(const Rules&, const SessionState& s) {
  if (s.workload.traffic.kind != Traffic::Kind::Closed) return {};
  for (const Point& point : grid(s.workload.traffic)) {
    for (const char* arm : {"a", "b"}) {
      bool is_a = arm[0] == 'a';
      Candidate candidate = is_a ? s.enabled->stock : s.incumbent;
      // A stock leg of an earlier sweep still stands; the incumbent's must be of this very candidate.
      bool have = false;
      int attempts = 0;
      for (const LegRecord& leg : s.legs) {
        if (leg.plan.purpose != "sweep" || leg.plan.group != point.id() || !(leg.plan.candidate == candidate)) continue;
        attempts += !leg.interrupted();
        have |= leg.done && leg.void_reason.empty();
      }
      if (have || attempts >= kMostAttempts) continue;
      if (searchable_s(s) < 2 * leg_cost_s(s)) return {};
      DoLeg leg = plan_leg(s, "sweep", point.id(), arm, -1, candidate);
      leg.plan.seed = plan_leg(s, "sweep", point.id(), "a", 0, candidate).plan.seed;   // equal work for both
      leg.plan.attempt = attempts;
      leg.plan.clients = point.clients;
      leg.plan.prompt_tokens = point.prompt;
      leg.plan.output_tokens = point.output;
      double share = static_cast<double>(point.clients) / std::max(1, s.workload.traffic.clients);
      leg.plan.measured = std::max(2 * point.clients, static_cast<int>(std::lround(leg.plan.measured * (share + 1) / 2)));
      leg.plan.warmup = std::max(1, point.clients / 2);
      return leg;
    }
  }
  return {};
}

}  // namespace hyperloom

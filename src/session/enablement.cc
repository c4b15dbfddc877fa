// The ladder, least to most invasive: the user's flags on the default build; other flags; a rebuild without the feature
// that traps. The first build that answers is stock; where the ladder had to be climbed, the fastest that answers is.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "search/proposals.h"
#include "session/legs.h"
#include "session/rules.h"
#include "session/step_json.h"

namespace hyperloom {
namespace {

constexpr double kLegShare = 1.0 / 150;    // of the budget: one full leg's window
constexpr double kLeastLeg_s = 3, kMostLeg_s = 20;

struct Rung { std::string group, build; Candidate with; };

const LegRecord* leg_of(const SessionState& s, const Rung& rung) {
  const LegRecord* found = nullptr;
  for (const LegRecord& leg : s.legs)
    if (leg.plan.group == rung.group && leg.done && leg.void_reason.empty()) found = &leg;
  return found;
}

int attempts(const SessionState& s, const Rung& rung) {
  return static_cast<int>(std::count_if(s.legs.begin(), s.legs.end(), [&](const LegRecord& leg) {
    return leg.plan.group == rung.group && !leg.void_reason.empty() && !leg.interrupted();
  }));
}

std::optional<Step> try_rung(const Rules&, const SessionState& s, const Rung& rung) {
  const BuildEvent* build = s.build(rung.build);
  if (!build) return DoBuild{rung.build, s.workload.build_s};
  if (!build->ok) return {};
  if (leg_of(s, rung) || attempts(s, rung) >= kMostAttempts) return {};
  DoLeg leg = plan_leg(s, "enable", rung.group, "a", 0, rung.with);
  leg.plan.build = rung.build;
  leg.plan.attempt = attempts(s, rung);
  int clients = std::max(1, s.workload.traffic.clients);
  leg.plan.warmup = std::max(2, clients / 2);
  leg.plan.measured = std::max(6, 2 * clients);
  return leg;
}

std::string outcome(const SessionState& s, const Rung& rung) {
  if (const BuildEvent* b = s.build(rung.build); b && !b->ok)
    return rung.group + ": build failed: " + b->error;
  const LegRecord* leg = leg_of(s, rung);
  if (!leg) return rung.group + ": no evidence";
  return rung.group + ": " + (leg->good() ? "answered" : leg->done->failure->text());
}

Enabled enabled_by(const SessionState& s, const Rung& rung, bool climbed, std::vector<std::string> rungs) {
  const LegResult& r = *leg_of(s, rung)->done->result;
  Enabled e{.build = rung.build, .stock = rung.with, .climbed = climbed, .rungs = std::move(rungs)};
  const Traffic& traffic = s.workload.traffic;
  double asked = traffic.prompt_tokens.mean;
  // What came of these very requests, where that is known: a trace begins with other lengths than its mean.
  const double ratio = r.load.tokens_per_asked > 0 ? r.load.tokens_per_asked : asked > 0 ? r.load.mean_prompt_tokens / asked : 0;
  if (ratio > 0) e.tokens_per_word = std::clamp(1.3 * ratio, 0.7, 6.0);
  double rate = std::max(r.load.requests_s, 1e-3);
  double window_s = std::clamp(s.workload.time_s * kLegShare, kLeastLeg_s, kMostLeg_s);
  int clients = std::max(1, traffic.clients);
  e.warmup_requests = std::max(2, clients / 2);
  // A closed loop's window ends when the trace has been handed out: the last `clients` requests are the drain.
  e.leg_requests = clients + std::max(clients, static_cast<int>(std::lround(rate * window_s)));
  return e;
}

// Flags that a failure's pattern suggests, then rebuilds that this machine can run.
std::vector<Rung> higher_rungs(const Rules& rules, const SessionState& s, const std::string& first_build, const Failure& failure) {
  std::vector<Rung> rungs;
  for (const FailurePattern& pattern : rules.pack.failures) {
    if (pattern.id != failure.id && pattern.failure_class != failure.failure_class) continue;
    for (const auto& [knob, value] : pattern.tries) {
      Candidate with = Candidate{}.with({"flag", knob, value});
      rungs.push_back({first_build + " " + with.text(), first_build, with});
    }
    if (!pattern.tries.empty()) break;
  }
  if (first_build == "command" || failure.rung == "none" || failure.rung == "flags") return rungs;
  Facts facts = facts_of(s, rules.pack, {});
  for (const BuildRecipe& recipe : rules.pack.builds)
    if (recipe.role == "enable" && holds(recipe.when, facts)) rungs.push_back({recipe.id, recipe.id, {}});
  return rungs;
}

}  // namespace

std::optional<Step> enablement(const Rules& rules, const SessionState& s) {
  if (s.enabled) return {};
  Rung first;
  if (!s.workload.engine_command.empty()) {
    first = {"command", "command", {}};
  } else {
    Facts facts = facts_of(s, rules.pack, {});
    for (const BuildRecipe& recipe : rules.pack.builds)
      if (recipe.role == "stock" && holds(recipe.when, facts)) { first = {recipe.id, recipe.id, {}}; break; }
    if (first.build.empty())
      throw bad_input("pack " + rules.pack.name + " has no build for this machine", "name engine.command in the workload");
  }
  if (auto step = try_rung(rules, s, first)) return step;
  // A weaker build that is ready sooner is no stock to beat.
  if (const BuildEvent* build = s.build(first.build); build && build->out_of_time)
    return enter_phase(s, "close", "not_enabled", "build " + first.build + " " + build->error + ": raise budget.build_s (now " +
                                                      format_duration(s.workload.build_s) + "); what is compiled is kept");
  const LegRecord* leg = leg_of(s, first);
  auto enable = [&](const Rung& rung, bool climbed, std::vector<std::string> story) {
    Json body = enabled_by(s, rung, climbed, std::move(story));
    body["what"] = "enabled";
    return emit("probe", "enabled", body);
  };
  if (leg && leg->good()) return enable(first, false, {outcome(s, first)});

  Failure failure = leg && leg->done->failure ? *leg->done->failure
                                              : Failure{.failure_class = "build_failed", .id = "build_failed", .rung = "rebuild"};
  std::vector<Rung> tried{first};
  for (const Rung& rung : higher_rungs(rules, s, first.build, failure)) {
    if (auto step = try_rung(rules, s, rung)) return step;
    tried.push_back(rung);
  }
  const Rung* best = nullptr;
  std::vector<std::string> story;
  for (const Rung& rung : tried) {
    story.push_back(outcome(s, rung));
    const LegRecord* l = leg_of(s, rung);
    if (l && l->good() && (!best || l->done->result->value > leg_of(s, *best)->done->result->value)) best = &rung;
  }
  if (!best) return enter_phase(s, "close", "not_enabled", story.back());
  return enable(*best, true, story);
}

}  // namespace hyperloom

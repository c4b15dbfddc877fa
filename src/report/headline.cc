// What a report says first: its headline and the line under it.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "report/findings.h"
#include "report/svg.h"
#include "report/words.h"

namespace hyperloom {
namespace {

constexpr size_t kLongestFailure = 300;  // characters; the log has the rest

struct Said {
  std::string headline;
  std::vector<std::string> sentences;  // of the subline; empty ones are skipped
};

std::string joined(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& sentence : sentences) {
    if (sentence.empty()) continue;
    if (!out.empty()) out += out.ends_with('.') ? " " : ". ";
    out += sentence;
  }
  return out;
}

std::string side_text(const std::optional<double>& ms) {
  return ms ? figure_text(*ms) + " ms" : "not measured";
}

std::string nearest_text(const SessionState& state) {
  const auto nearest = nearest_to_limits(state);
  if (!nearest) return "";
  const bool within = nearest->ms <= nearest->limit.max_ms;  // the close went by another mean
  return "Nearest: " + nearest->candidate.text() + " with " + nearest->limit.metric + " at " +
         figure_text(nearest->ms) + " ms" +
         (within ? " by its median; by the mean over its legs it misses the limit, "
                 : "; the limit is ") +
         limit_text(nearest->limit);
}

Said limits_unmet(const SessionState& state, const Findings& findings) {
  const bool stock_meets = all_meet(findings.limits, &LimitCheck::stock_meets);
  const bool best_meets = all_meet(findings.limits, &LimitCheck::best_meets);
  const std::string full_stack =
      findings.claim.n > 0 ? "Full stack: " + claim_text(findings.claim) : "";
  if (full_stack.empty() || (!stock_meets && !best_meets)) {
    return {"Limits not met, neither by stock nor by what was found",
            {nearest_text(state), full_stack}};
  }
  std::vector<std::string> lines;
  for (const LimitCheck& check : findings.limits) {
    if (!best_meets && check.best_meets()) continue;
    lines.push_back(limit_text(check.limit) + ": stock " + side_text(check.stock_ms) +
                    ", full stack " + side_text(check.best_ms));
  }
  Said said;
  said.headline = best_meets ? "The full stack is not proven to keep the limits"
                             : "The full stack breaks a limit that stock meets";
  if (stock_meets) said.headline += ": keep stock";
  said.sentences = {join(lines, "; ")};
  if (best_meets) {
    said.sentences.push_back(
        "These are medians; by its mean over the fresh pairs it is not within the limits beyond "
        "doubt");
  }
  said.sentences.push_back(full_stack);
  return said;
}

Said improved(const SessionState& state, const Findings& findings) {
  Said said{claim_text(findings.claim), {}};
  if (findings.claim.low <= 0)
    said.headline = "Meets the limits that stock misses; " + said.headline;
  if (findings.stock_value && findings.best_value) {
    const Objective& objective = state.workload.objective;
    said.sentences = {objective_text(objective) + ": " +
                      figure_text(in_unit(*findings.stock_value, objective)) + " -> " +
                      value_text(*findings.best_value, objective)};
  }
  return said;
}

Said interrupted(const ReportInputs& inputs) {
  const SessionState& state = inputs.state;
  // The same state is shown while a session still runs, when nobody has stopped anything.
  const bool stopped = !state.stop_request.empty() || state.closed || !inputs.stop_reason.empty();
  return {stopped ? "Interrupted before a claim could be made" : "No claim yet",
          {state.kept_items.empty()
               ? "Nothing had been kept yet. `hyperloom resume` goes on from here."
               : count_text(state.kept_items.size(), "change") +
                     " kept so far, each by its own pairs; the whole stack has not been measured "
                     "against stock. `hyperloom resume` goes on from here."}};
}

bool compared(const SessionState& state) {
  return std::any_of(state.comparisons.begin(), state.comparisons.end(),
                     [](const Comparison& comparison) { return !comparison.pairs.empty(); });
}

const LegRecord* last_failed_leg(const SessionState& state) {
  for (auto leg = state.legs.rbegin(); leg != state.legs.rend(); ++leg) {
    if (leg->done && leg->done->failure) return &*leg;
  }
  return nullptr;
}

// Where that server's own words are; nowhere when it could not even be launched.
std::string log_hint(const LegRecord* leg) {
  if (!leg || leg->done->failure->failure_class == "cannot_launch") return "";
  return "What that server wrote is in logs/" + leg->plan.id + ".log in the session's folder";
}

Said not_enabled(const SessionState& state) {
  if (stopped_by_user(state)) {
    return {"Stopped before the engine had answered",
            {"The user closed the session while the engine was still being built and tried, so "
             "nothing was measured."}};
  }
  const bool out_of_time = std::any_of(state.builds.begin(), state.builds.end(),
                                       [](const BuildEvent& build) { return build.out_of_time; });
  const PhaseEntered* close = close_entry(state);
  return {out_of_time ? "The engine's build did not get done in its time"
                      : "The engine could not be made to answer",
          {"No build of it served a correct completion here, so nothing was measured.",
           close && !close->evidence.empty() ? "The last try: " + close->evidence : "",
           log_hint(last_failed_leg(state))}};
}

// The headline where the search ended before it could say anything about gains; else "".
std::string early_end(const SessionState& state) {
  const PhaseEntered* close = close_entry(state);
  const std::string reason = close ? close->reason : "";
  if (reason == "budget_too_small") return "The budget is too small for this workload";
  if (reason == "host_never_quiet") return "This host never got quiet";
  if (reason == "stock_keeps_failing") return "The stock configuration failed under load";
  if (reason == "budget" && !state.noise_known) return "The budget ended before stock was measured";
  if (reason == "user_close" && !compared(state)) return "Closed before anything was compared";
  return "";
}

std::string tried_text(const SessionState& state) {
  if (!state.kept_items.empty()) {
    return count_text(state.kept_items.size(), "change") +
           " kept, each by its own pairs; there are no fresh pairs of all together against stock";
  }
  return compared(state) ? "Nothing that was tried beat the stock configuration beyond doubt"
                         : "Nothing was compared with stock";
}

Said ended_early(const SessionState& state) {
  Said said{early_end(state), {}};
  std::string evidence = close_entry(state)->evidence;
  if (!evidence.empty())
    evidence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(evidence[0])));
  if (evidence != said.headline) said.sentences.push_back(evidence);
  const LegRecord* failed = last_failed_leg(state);
  if (close_entry(state)->reason == "stock_keeps_failing" && failed) {
    said.sentences.push_back("The last time: " +
                             cut(failed->done->failure->text(), kLongestFailure));
    said.sentences.push_back(log_hint(failed));
  }
  said.sentences.push_back(tried_text(state));
  return said;
}

Said no_gain(const SessionState& state, const Findings& findings) {
  const auto failed = full_stack_failures(state);
  const std::string failures =
      failed.empty()
          ? ""
          : "The full stack failed in " + count_text(failed.size(), "leg") + " of its own claim";
  if (findings.claim.n > 0) {
    return {"No proven gain",
            {"Full stack against stock: " + claim_text(findings.claim), failures,
             failed.empty() ? "" : log_hint(failed.back())}};
  }
  const PhaseEntered* close = close_entry(state);
  return {"No proven gain",
          {tried_text(state), failures,
           close && !close->evidence.empty() ? "The search ended: " + close->evidence : ""}};
}

Said said_of(const ReportInputs& inputs, const Findings& findings) {
  const SessionState& state = inputs.state;
  const std::string& result = findings.result;
  if (result == "improved") return improved(state, findings);
  if (result == "not_enabled") return not_enabled(state);
  if (result == "interrupted") return interrupted(inputs);
  // Limits that were never measured are not what the session ended for.
  const bool limits = result == "limits_unmet" && state.noise_known;
  if (!limits && findings.claim.n == 0 && !early_end(state).empty()) return ended_early(state);
  return result == "limits_unmet" ? limits_unmet(state, findings) : no_gain(state, findings);
}

}  // namespace

const PhaseEntered* close_entry(const SessionState& state) {
  for (auto entered = state.phases.rbegin(); entered != state.phases.rend(); ++entered) {
    if (entered->phase == "close") return &*entered;
  }
  return nullptr;
}

bool stopped_by_user(const SessionState& state) {
  const std::string& reason = state.closed ? state.closed->stop_reason : state.stop_request;
  return reason == "user_close" || reason == "user_stop";
}

void set_headline(const ReportInputs& inputs, Findings& findings) {
  const Said said = said_of(inputs, findings);
  findings.headline = said.headline;
  findings.subline = joined(said.sentences);
}

}  // namespace hyperloom

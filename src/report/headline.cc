// What a report says first: its headline and the line under it.
#include "base/text.h"
#include "report/findings.h"
#include "report/words.h"

namespace hyperloom {
namespace {

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

Said not_enabled() {
  return {"The engine could not be made to answer",
          {"No build of it served a correct completion here, so nothing was measured."}};
}

Said no_gain(const Findings& findings) {
  return {"No proven gain",
          {findings.claim.n > 0
               ? "Full stack against stock: " + claim_text(findings.claim)
               : "Nothing that was tried beat the stock configuration beyond doubt."}};
}

Said said_of(const ReportInputs& inputs, const Findings& findings) {
  const std::string& result = findings.result;
  if (result == "improved") return improved(inputs.state, findings);
  if (result == "limits_unmet") return limits_unmet(inputs.state, findings);
  if (result == "not_enabled") return not_enabled();
  if (result == "interrupted") return interrupted(inputs);
  return no_gain(findings);
}

}  // namespace

void set_headline(const ReportInputs& inputs, Findings& findings) {
  const Said said = said_of(inputs, findings);
  findings.headline = said.headline;
  findings.subline = joined(said.sentences);
}

}  // namespace hyperloom

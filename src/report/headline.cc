// What a report says first: its headline and the line under it.
#include "report/findings.h"
#include "report/words.h"

namespace hyperloom {

void set_headline(const ReportInputs& inputs, Findings& findings) {
  const SessionState& state = inputs.state;
  const std::string values =
      findings.stock_value && findings.best_value
          ? objective_text(state.workload.objective) + ": " +
                figure_text(in_unit(*findings.stock_value, state.workload.objective)) + " -> " +
                value_text(*findings.best_value, state.workload.objective)
          : "";
  if (findings.result == "improved") {
    findings.headline = claim_text(findings.claim);
    findings.subline = values;
    if (findings.claim.low <= 0)
      findings.headline = "Meets the limits that stock misses; " + findings.headline;
  } else if (findings.result == "limits_unmet" &&
             all_meet(findings.limits, &LimitCheck::stock_meets)) {
    findings.headline = "The full stack breaks a limit that stock meets: keep stock";
    for (const LimitCheck& check : findings.limits) {
      if (check.best_meets()) continue;
      if (!findings.subline.empty()) findings.subline += "; ";
      findings.subline += limit_text(check.limit) + ": stock " + figure_text(*check.stock_ms) +
                          " ms, full stack " +
                          (check.best_ms ? figure_text(*check.best_ms) + " ms" : "not measured");
    }
    findings.subline += ". Full stack: " + claim_text(findings.claim);
  } else if (findings.result == "limits_unmet") {
    findings.headline = "Limits not met, neither by stock nor by what was found";
    if (const auto nearest = nearest_to_limits(state)) {
      findings.subline = "Nearest: " + nearest->candidate.text() + " with " +
                         nearest->limit.metric + " at " + figure_text(nearest->ms) +
                         " ms; the limit is " + limit_text(nearest->limit);
    }
    if (findings.claim.n > 0) findings.subline += ". Full stack: " + claim_text(findings.claim);
  } else if (findings.result == "not_enabled") {
    findings.headline = "The engine could not be made to answer";
    findings.subline = "No build of it served a correct completion here, so nothing was measured.";
  } else if (findings.result == "interrupted") {
    // The same state is shown while a session still runs, when nobody has stopped anything.
    const bool stopped = !state.stop_request.empty() || state.closed || !inputs.stop_reason.empty();
    findings.headline = stopped ? "Interrupted before a claim could be made" : "No claim yet";
    findings.subline =
        state.kept_items.empty()
            ? "Nothing had been kept yet. `hyperloom resume` goes on from here."
            : count_text(state.kept_items.size(), "change") +
                  " kept so far, each by its own pairs; the whole stack has not been measured "
                  "against stock. `hyperloom resume` goes on from here.";
  } else {
    findings.headline = "No proven gain";
    findings.subline = findings.claim.n > 0
                           ? "Full stack against stock: " + claim_text(findings.claim)
                           : "Nothing that was tried beat the stock configuration beyond doubt.";
  }
}

}  // namespace hyperloom

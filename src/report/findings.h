// What every form of the report says, worked out once from the folded state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace hyperloom {

// A stage's effect. `fresh`: measured for the claim; else the pairs that decided to keep it, which
// overstate.
struct Effect {
  Interval interval;  // of log ratios; low and high only when interval.n >= 2
  bool fresh = false;
};

struct StageRow {
  std::string id, name,
      kind;              // kind: stock | enablement | warm_replay | framework | kernel | final
  std::string decision;  // stock | enabled | kept | reverted | claimed | unproven
  std::string parent;    // candidate id
  std::optional<Change> change;
  std::optional<Effect> effect;  // none for stock and enablement
  std::vector<PairDone> pairs;
  const Comparison* comparison = nullptr;
  std::vector<std::string> unvalidated;  // notes
  std::vector<double> logs() const;
};

// An objective's limit, held against the medians over the legs of stock and of best.
struct LimitCheck {
  Limit limit;
  std::optional<double> stock_ms, best_ms;
  bool stock_meets() const { return stock_ms && *stock_ms <= limit.max_ms; }
  bool best_meets() const { return best_ms && *best_ms <= limit.max_ms; }
};
std::vector<LimitCheck> check_limits(const SessionState& state);
bool all_meet(const std::vector<LimitCheck>& checks, bool (LimitCheck::*meets)() const);

// The measured candidate whose worst limit is nearest to being met.
struct Nearest {
  Candidate candidate;
  Limit limit;
  double ms = 0;
};
std::optional<Nearest> nearest_to_limits(const SessionState& state);

// Leave-one-out: what is lost when the change is taken out of the full stack (positive log = it
// helps).
struct Contribution {
  std::string knob;
  Interval effect;
};
std::vector<Contribution> contributions(const SessionState& state);

std::optional<double> geometric_mean(const std::vector<double>& values);
// Interval with own t from two pairs on; with one, n = 1 and infinite ends.
Interval interval_of(const std::vector<double>& logs);

struct Findings {
  std::string result, stop_reason, headline, subline;
  std::string stopped_because;  // stop_reason in words, with its evidence
  std::string launches;         // what launch.sh starts, in words
  Interval claim;
  std::optional<double> stock_value,
      best_value;                  // leg values: of the fresh pairs, else of the stock legs
  std::vector<StageRow> stages;    // kept and claimed, in order: the waterfall
  std::vector<StageRow> reverted;  // compared, and not kept
  std::vector<LimitCheck> limits;
  std::optional<double> stock_boot_s, best_boot_s;
  const ProfileNote* before = nullptr;
  const ProfileNote* after = nullptr;
  std::vector<std::string> unvalidated;
  double total_s = 0, other_s = 0;
  std::string journal_sha256;  // "" when there is no journal file
};
Findings gather(const ReportInputs& inputs);
// Of gather(): headline and subline, from result, claim and limits.
void set_headline(const ReportInputs& inputs, Findings& findings);

// Notes on what a kept change is that a reader would want to know and that no measurement here
// settles.
std::vector<std::string> notes_on(const SessionState& state, const Change& change,
                                  const Comparison* comparison);

// Why the search ended: the entry into its close; null while it still searches.
const PhaseEntered* close_entry(const SessionState& state);
bool stopped_by_user(const SessionState& state);

// Void because a server failed by itself (stock, the incumbent or the full stack), not for other
// load on the host.
bool void_by_failure(const LegRecord& leg);
// Those of the full stack in the pairs of the claim.
std::vector<const LegRecord*> full_stack_failures(const SessionState& state);

// Proposals that no comparison judged, the latest word on each change, and those for which there was no time.
struct Untried {
  std::vector<const Proposal*> judged;
  std::vector<std::string> no_time;
};
Untried untried_proposals(const SessionState& state);

}  // namespace hyperloom

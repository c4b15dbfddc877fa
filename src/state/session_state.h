// What a session knows: the fold of its journal. Value type; phases read it, reports draw it, nothing else is truth.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "journal/journal.h"
#include "state/events.h"
#include "workload/workload.h"

namespace hyperloom {

struct LegRecord {
  LegPlan plan;
  ProcessHandle handle;                      // of the server, once launched
  int port = 0;
  std::optional<LegDone> done;
  std::string void_reason;                   // non-empty = void
  bool open() const { return !done && void_reason.empty(); }
  bool good() const { return done && done->result && void_reason.empty(); }
  bool failed() const { return done && done->failure && void_reason.empty(); }
  bool sat() const { return done && done->exam && void_reason.empty(); }   // an exam that ended
  // A void that came from a kill, a stop or a resume, not from the host.
  bool interrupted() const;
};

struct Comparison {
  Intent intent;                             // kind compare: a, b, proposal
  std::vector<PairDone> pairs;
  std::optional<Decided> decided;
  std::optional<QualityDone> quality;
  std::optional<ExamDone> exam;
  std::optional<CriticVerdict> critic;
  std::vector<double> log_ratios() const;
};

enum class ProposalStatus { Waiting, Refused, Screened, Comparing, Kept, Reverted };
struct Proposal {
  Intent intent;
  ProposalStatus status = ProposalStatus::Waiting;
  std::optional<Refused> refused;
  std::optional<double> screened_log;        // against the round's control legs
  std::string comparison;                    // the latest
  std::optional<Reverted> reverted;
};

// One row of the report's table.
struct Stage {
  std::string id, name, kind;                // kind: stock | enablement | warm_replay | framework | kernel | final
  Change change;
  std::string parent, comparison;
  bool kept = false;
};

struct SweepPoint {
  std::string id;                            // "c8-p128-o64"
  int clients = 0, prompt_tokens = 0, output_tokens = 0;
  std::vector<double> stock, best;           // objective values of legs
};

struct SessionState {
  std::string session;
  Workload workload;
  std::string workload_sha256, alpha_plan, opened_wall;
  std::string phase = "prelude";             // prelude | framework | kernel | sweep | close
  int cycle = 1;
  std::vector<PhaseEntered> phases;
  std::vector<double> phase_at_s;            // spent_s when each was entered

  std::optional<ProbeEvent> probe;
  std::vector<BuildEvent> builds;
  std::vector<MadeEvent> made;
  std::vector<LegRecord> legs;
  std::map<std::string, size_t> leg_index;

  std::optional<Enabled> enabled;            // which build and flags are stock
  bool noise_known = false;
  std::optional<ExamPlan> exam;              // nothing = not decided
  Candidate incumbent;                       // starts as enabled->stock
  std::vector<Change> kept_items;            // in order of adoption
  std::vector<Proposal> proposals;
  std::vector<Comparison> comparisons;       // all, in order; index by id
  std::vector<Stage> stages;
  std::vector<SweepPoint> sweep;
  std::vector<ProfileNote> profiles;         // of stock, of best
  std::vector<Intent> alerts;
  std::optional<RecipeWritten> recipe;
  std::vector<std::string> notices;          // recipe database set aside, torn tail, no perf, ...
  NoisePool pool;
  bool replay_looked_up = false;
  bool kernel_asked = false;

  std::vector<PairDone> final_pairs;         // fresh, stock against full stack
  std::map<std::string, std::vector<PairDone>> ablation;   // knob -> full stack against full stack without it
  std::string swept;                         // incumbent's id at the last sweep
  std::vector<std::string> cycle_ends;       // reason of each cycle's end
  int keeps_this_cycle = 0;
  std::optional<Closed> closed;
  std::string stop_request;                  // from session.stopped: user_stop | user_close
  double spent_s = 0;                        // charged to the budget: what finished steps cost, since the first answer
  double measuring_s = 0, building_s = 0, unbudgeted_s = 0;
  int voids = 0, voids_in_a_row = 0;
  double first_gain_at_s = -1;               // spent_s at the first keep
  int resumes = 0;

  const LegRecord* leg(const std::string& id) const;
  const Comparison* comparison(const std::string& id) const;
  // Those whose pairs say something of the noise, and were decided before `comparison` was opened.
  std::vector<const Comparison*> decided_before(const std::string& comparison) const;
  const Proposal* proposal(const std::string& id) const;
  const BuildEvent* build(const std::string& recipe) const;
  const MadeEvent* made_for(const Candidate& candidate) const;
  std::vector<const LegRecord*> good_legs(const std::string& purpose) const;
  const Intent* stop_alert() const;          // the watchdog's word that the search must end; null = none
  double stock_value() const;                // geometric mean of good stock legs; 0 when none
  double left_s() const { return workload.time_s - spent_s; }
};

// The noise pool as it stands when the stock legs are measured: these, started with an earlier day's pairs.
NoisePool first_pool(const SessionState& state);

// Folds one entry. Unknown `x-` types are skipped.
void apply(SessionState& state, const Entry& entry);
SessionState fold(const std::vector<Entry>& entries);

}  // namespace hyperloom

// The bodies of journal entries (docs/formats.md): what happened, typed. Field lists serve both directions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "candidate/candidate.h"
#include "engine/failure.h"
#include "engine/model_facts.h"
#include "measure/exam.h"
#include "measure/leg.h"
#include "measure/quality.h"
#include "os/child.h"
#include "os/host_memory.h"
#include "os/machine.h"
#include "profile/roofline.h"
#include "stats/sequential.h"

namespace hyperloom {

// probe: machine and model, before anything is built.
struct ProbeEvent {
  MachineFacts machine;
  ModelFacts model;
  MachineRoofs roofs;
  std::string pack, engine_version, source_commit;
  double cost_s = 0;
  LearnedLimits neighbour_limits;            // for all legs of the session
  std::optional<EarlierNoise> earlier_noise; // starts the noise pool
};

// build.done. Failed builds are facts too.
struct BuildEvent {
  std::string recipe, key, folder, error;
  bool ok = false, from_cache = false;
  double cost_s = 0;
  std::vector<std::string> help_flags;       // of the built server
  bool out_of_time = false;                  // not ok, and no evidence against it
};

// probe {what: "enabled"}: the session's stock, decided by the ladder.
struct Enabled {
  std::string build;                         // recipe id, or "command"
  Candidate stock;                           // empty, or the flags that the ladder had to add
  bool climbed = false;                      // the first build did not answer
  std::vector<std::string> rungs;            // what was tried, one line each
  double tokens_per_word = 1.3;
  int leg_requests = 0, warmup_requests = 0; // of a full leg
};

// candidate.made: requantized weights and the like.
struct MadeEvent {
  Candidate candidate;
  bool ok = false;
  std::string error, model_path;
  uint64_t model_bytes = 0;
  double cost_s = 0;
  bool out_of_time = false;                  // as in BuildEvent
};

// leg.started: the intent, journalled before the launch.
struct LegPlan {
  std::string id;                            // "L17"
  std::string why;                           // for people
  std::string purpose;                       // enable | stock | screen | pair | final | ablation | sweep | profile | exam
  std::string group;                         // comparison, screening round, or sweep point
  std::string arm;                           // a (incumbent or stock) | b
  int pair = -1;
  int attempt = 0;
  Candidate candidate;
  std::string build;                         // recipe id; "command" = the user's own server
  uint64_t seed = 0;
  int measured = 0, warmup = 0;              // requests
  int clients = 0, prompt_tokens = 0, output_tokens = 0;   // a sweep point's own; 0 = the workload's; exam: of the long text
};

// leg.done (result or failure), leg.void (reason). `id` is the plan's.
struct LegDone {
  std::string id;
  std::optional<LegResult> result;
  std::optional<Failure> failure;            // the candidate's own fault
  std::string records_blob;                  // sha256 of per-request JSON lines
  std::optional<KernelTable> kernels;        // purpose profile
  std::optional<ExamSheet> exam;             // purpose exam: instead of a result
  double cost_s = 0;
};
struct LegVoid {
  std::string id, reason;
  double cost_s = 0;
  std::optional<Neighbours> neighbours;      // what the sentinel saw, where the load ran
};

struct PairDone { std::string comparison, leg_a, leg_b; int pair = 0; double log_ratio = 0; };

struct Decided {
  std::string comparison, verdict;           // faster | not_useful | unresolvable | failed | limits_unmet | abandoned
  std::string why;                           // one line
  Look look;
  std::vector<std::string> guards;           // "ttft p95: proven within margin", "... unproven"
};

struct QualityDone { std::string comparison; QualityReport report; };
struct ExamDone { std::string comparison; ExamReport report; };   // exam.judged: of the leg of group "exam:COMPARISON"
// probe {what: "exam"}: whether would-be keeps sit it, decided once, and why not.
struct ExamPlan { bool on = false; std::string notice; };

// intent: what a role asks for. kind: propose (a change worth trying) | compare (spend alpha on it) | stop | alert.
struct Intent {
  std::string id, role, kind, phase;         // role: planner | critic | watchdog | user | backend
  Change change;
  std::string source;                        // expert | recipe | sweep | kernel backend's name
  std::string proposal;                      // compare: the proposal's id
  Candidate a, b;                            // compare: the two sides; propose: a = the incumbent that it was made on
  double predicted_log = 0;                  // logged and scored, never used to decide
  std::string why;
};

struct Refused { std::string intent, rule, value, mend; };

struct CriticVerdict { std::string comparison; bool sign = false; std::string code, why; double recomputed_log = 0; };

struct Kept { std::string comparison, proposal, stage; Candidate incumbent; };
struct Reverted { std::string comparison, proposal, code, why; };   // code: not_faster, quality, vetoed, failed, limits, screened_out

struct PhaseEntered { std::string phase, reason; int cycle = 1; std::string evidence; };   // reason: closed vocabulary
struct ProfileNote { std::string leg; KernelTable kernels; Roofline roofline; std::string of; };   // inside `probe` entries: of stock | best
struct RecipeWritten { std::string key, reason; bool written = false; int items = 0; };
struct Closed { std::string result, stop_reason; bool provisional = false; };
struct Stopped { std::string reason; };      // session.stopped: user_stop, user_close, fault

void to_json(Json&, const ProbeEvent&);      void from_json(const Json&, ProbeEvent&);
void to_json(Json&, const BuildEvent&);      void from_json(const Json&, BuildEvent&);
void to_json(Json&, const Enabled&);         void from_json(const Json&, Enabled&);
void to_json(Json&, const MadeEvent&);       void from_json(const Json&, MadeEvent&);
void to_json(Json&, const LegPlan&);         void from_json(const Json&, LegPlan&);
void to_json(Json&, const LegDone&);         void from_json(const Json&, LegDone&);
void to_json(Json&, const LegVoid&);         void from_json(const Json&, LegVoid&);
void to_json(Json&, const PairDone&);        void from_json(const Json&, PairDone&);
void to_json(Json&, const Decided&);         void from_json(const Json&, Decided&);
void to_json(Json&, const QualityDone&);     void from_json(const Json&, QualityDone&);
void to_json(Json&, const ExamDone&);        void from_json(const Json&, ExamDone&);
void to_json(Json&, const ExamPlan&);        void from_json(const Json&, ExamPlan&);
void to_json(Json&, const Intent&);          void from_json(const Json&, Intent&);
void to_json(Json&, const Refused&);         void from_json(const Json&, Refused&);
void to_json(Json&, const CriticVerdict&);   void from_json(const Json&, CriticVerdict&);
void to_json(Json&, const Kept&);            void from_json(const Json&, Kept&);
void to_json(Json&, const Reverted&);        void from_json(const Json&, Reverted&);
void to_json(Json&, const PhaseEntered&);    void from_json(const Json&, PhaseEntered&);
void to_json(Json&, const ProfileNote&);     void from_json(const Json&, ProfileNote&);
void to_json(Json&, const RecipeWritten&);   void from_json(const Json&, RecipeWritten&);
void to_json(Json&, const Closed&);          void from_json(const Json&, Closed&);
void to_json(Json&, const Stopped&);         void from_json(const Json&, Stopped&);
void to_json(Json&, const ModelFacts&);      void from_json(const Json&, ModelFacts&);
void to_json(Json&, const Failure&);         void from_json(const Json&, Failure&);
void to_json(Json&, const Look&);            void from_json(const Json&, Look&);

}  // namespace hyperloom

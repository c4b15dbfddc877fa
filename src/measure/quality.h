// Is the candidate still the same model, and did it do the work? Cheap first; each check is a value with evidence.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "load/generator.h"
#include "measure/leg.h"
#include "workload/workload.h"

namespace hyperloom {

struct KlResult {
  bool ok = false;
  bool no_evidence = false;              // not ok, for a reason that says nothing of the candidate: disk, time, no base, no start
  std::string error;
  double mean_kl = 0, mean_kl_se = 0, ppl_ratio = 0, ppl_ratio_se = 0, top1 = 0, top1_se = 0;   // ratio candidate / stock; top1 in [0,1]
  int tokens = 0;
  double seconds = 0;
};

struct KlOrder {
  std::filesystem::path tools;           // build folder whose tool runs
  std::filesystem::path model;
  std::vector<std::string> flags;        // the candidate's own KV and attention settings
  std::map<std::string, std::string> env;
  std::filesystem::path text;            // evaluation text
  int tokens = 8192;
  std::filesystem::path base;            // stock's logits: written by measure_kl_base
  double limit_s = 600;
};

// `base` is large (about 50 kB a token at a vocabulary of 49,000; half of the tokens count): put it in the
// session's folder and delete it at the session's end. Failures of the tool are values.
KlResult make_kl_base(const Pack& pack, const KlOrder& order, const volatile bool* stop_flag = nullptr);
KlResult compare_kl(const Pack& pack, const KlOrder& order, const volatile bool* stop_flag = nullptr);
// Our own evaluation text of at least `tokens` tokens (prose, dialogue, tables, code; deterministic), in `folder`.
std::filesystem::path evaluation_text(const std::filesystem::path& folder, int tokens);

// share: mean share of the common prefix of greedy answers, by request. tokens_apart: how far the generated tokens of
// the compared requests lie apart in sum, as a share of the larger; < 0 = unknown.
struct Agreement { double share = 0; int compared = 0; double tokens_apart = -1; };
// Answers of two legs under the same trace; only requests that completed in both, and not two empty answers.
Agreement greedy_agreement(const std::string& records_a_jsonl, const std::string& records_b_jsonl);

struct QualityReport {
  KlResult kl;                           // !ok and empty error = not needed (numerics exact, same weights and build)
  bool kl_done = false;
  Agreement agreement, stock_agreement;  // candidate against stock; stock against itself under the same load
  std::vector<std::string> failures;     // each names limit, value, mend; empty = held
  std::vector<std::string> notes;
  bool held() const { return failures.empty(); }
  double cost_s = 0;
};
void to_json(Json& json, const QualityReport& report);
void from_json(const Json& json, QualityReport& report);

// Pure judgement of what was measured against the limits; replaces `failures`, adds to `notes`. `waived` turns
// failures of quality into notes; work not done (lengths, finish reasons) cannot be waived: it is no speed-up.
void judge(QualityReport& report, const QualityLimits& limits, const LoadSummary& stock, const LoadSummary& candidate);
// Within 2 standard errors of a limit: measure again on four times the text.
bool too_close(const KlResult& kl, const QualityLimits& limits);

}  // namespace hyperloom

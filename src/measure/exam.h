// The exam: a server answers our items, and is compared with stock's answers item by item. Engine-neutral: plain OpenAI
// completions and chats. Sees the broken-but-fast kind within seconds; fine damage is the divergence's (quality.h).
// What each check sees and does not see: docs/measurement-quality.md.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/exam_items.h"
#include "stats/paired_shares.h"

namespace hyperloom {

struct ExamAnswer {
  std::string kind;                      // of the item
  bool right = false;
  bool ended = false;                    // by itself, before max_tokens
  bool failed = false;                   // the request failed or timed out
  bool refused = false;                  // HTTP 400: a long prompt that does not fit this server's context
  bool too_long = false;                 // more tokens than max_tokens
  bool circles = false;                  // goes in circles
  std::string text;
  std::optional<std::string> alone;      // what it said when asked again with nothing else in flight
};

struct ExamSheet {
  std::vector<ExamAnswer> answers;       // of the first items; fewer than asked = killed early, stopped or out of time
  int asked = 0;                         // items
  std::set<std::string> ignored;         // sampler settings that the server does not obey: max_tokens, stop, seed, temperature
  double seconds = 0;
  bool whole() const { return asked > 0 && static_cast<int>(answers.size()) == asked; }
};
void to_json(Json& json, const ExamSheet& sheet);        // texts beyond 2,000 bytes are cut there
void from_json(const Json& json, ExamSheet& sheet);      // Json::exception when it is none

struct ExamOrder {
  std::string url;                       // base URL of the server
  std::string model = "default";
  std::vector<ExamItem> items;
  int clients = 8;                       // at the load's own concurrency: some are wrong only there
  double limit_s = 180;
  const ExamSheet* stock = nullptr;      // stops as soon as the server is proven worse than this
  const volatile bool* stop_flag = nullptr;
};
ExamSheet sit_exam(const ExamOrder& order);

enum class ExamVerdict { Held, Worse, Unproven, Blind };
const char* name_of(ExamVerdict verdict);   // "held", "worse", "unproven", "blind"

// One thing that a candidate may not lose against stock.
struct ExamCheck {
  std::string name;                      // "right answers", "answers that end by themselves", ...
  int items = 0, stock_good = 0;         // compared items; those that stock has right
  int lost = 0, won = 0;                 // candidate bad where stock is good, and the reverse
  double p = 1, e_value = 1;             // of so many losses if the candidate were no worse: exact McNemar; e-process
  ExamVerdict verdict = ExamVerdict::Held;   // Blind: stock itself does it too seldom, or loses it when asked again
};

struct ExamReport {
  std::vector<ExamCheck> checks;
  int compared = 0, asked = 0;
  double share_right = 0, stock_right = 0;         // of the compared items
  double agreement = 0, stock_agreement = 0;       // same text as stock's: the candidate, and stock asked again
  std::vector<std::string> failures;     // each names the check, what it saw and the mend; empty = held
  std::vector<std::string> notes;        // also what the exam cannot see here
  bool no_evidence = false;              // not held only because it was cut short
  double seconds = 0;                    // of the candidate's sitting
  bool held() const { return failures.empty(); }
};
void to_json(Json& json, const ExamReport& report);
void from_json(const Json& json, ExamReport& report);

struct ExamLimits {
  bool exact = false;                    // the candidate claims stock's own answers
  std::string waived;                    // quality is waived, for this reason: then only work not done is a failure
};

// `again`: stock's second sitting, the floor of what changes by itself: a check that it loses is not used. Not proven is a
// failure: an exam cut short, too many differing answers.
ExamReport judge_exam(const ExamSheet& stock, const ExamSheet& again, const ExamSheet& candidate, const ExamLimits& limits = {});
bool proven_worse(const ExamSheet& stock, const ExamSheet& candidate);   // so far, by any check

}  // namespace hyperloom

// The exam: a server answers our items under concurrency, and is compared with stock's answers item by item. Engine-neutral:
// plain OpenAI completions. Sees the broken-but-fast kind within seconds; fine damage is the divergence's (quality.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "measure/exam_items.h"
#include "stats/paired_shares.h"

namespace hyperloom {

struct ExamAnswer {
  bool right = false, ended = false;     // ended: by itself, before max_tokens
  bool failed = false;                   // the request failed or timed out
  bool too_long = false;                 // more tokens than max_tokens
  std::string text;
};

struct ExamSheet {
  std::vector<ExamAnswer> answers;       // of the first items; fewer than asked = killed early, stopped or out of time
  std::set<std::string> ignored;         // sampler settings that the server does not obey: max_tokens, stop, seed, temperature
  double seconds = 0;
};

struct ExamReport {
  ShareLook right, right_long;           // against stock; of all items, and of the long ones alone (killed only)
  double share_right = 0, stock_right = 0;         // of the compared items
  double agreement = 0, stock_agreement = 0;       // same text as stock's: the candidate, and stock asked again
  int compared = 0;
  std::vector<std::string> failures;     // each names what was seen and the mend; empty = held
  std::vector<std::string> notes;
  bool held() const { return failures.empty(); }
};

struct ExamOrder {
  std::string url;                       // base URL of the server
  std::vector<ExamItem> items;
  int clients = 8;                       // at the load's own concurrency: some are wrong only there
  double limit_s = 180;
  const ExamSheet* stock = nullptr;      // stops as soon as the server is proven worse than this
  const volatile bool* stop_flag = nullptr;
};
ExamSheet sit_exam(const ExamOrder& order);

// `again`: stock's second sitting, the floor of what answers change by themselves. `exact`: the change claims the same
// answers. Not proven is a failure: an exam cut short, too many differing answers. Error(Internal): sheets of other items.
ExamReport judge_exam(const std::vector<ExamItem>& items, const ExamSheet& stock, const ExamSheet& again, const ExamSheet& candidate, bool exact);

}  // namespace hyperloom

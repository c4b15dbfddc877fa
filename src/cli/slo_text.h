// A search for the highest rate that meets the limits: its runs and its answer as a table, as Markdown and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "load/generator.h"
#include "load/rate_search.h"

namespace hyperloom {

struct SloRun {
  double rate_rps = 0;                   // 0 = one request at a time
  int requests = 0, warmup = 0;
  bool met = false;
  std::string why;                       // of a run that missed by other than a limit; of a void one
  bool spoiled = false;                  // no evidence: it was repeated
  LoadSummary summary;
  std::vector<LimitCount> counts;        // in the order of the limits
};

struct SloSearch {
  std::string url, model;
  std::vector<Limit> limits;
  double alpha = 0.05;
  std::vector<SloRun> runs;
  RateAnswer answer;
  std::string stopped;                   // why it ended before its answer; empty = it did not
  bool interrupted = false;
};

std::string limit_words(const Limit& limit);                   // "ttft p99 <= 500 ms"
std::string rate_text(double rate_rps);                       // "one request at a time", "2.5 requests/s"
std::string run_text(const SloSearch& search, const SloRun& run);   // one line, while it runs
std::string answer_text(const SloSearch& search);
std::string slo_table(const SloSearch& search);
std::string slo_markdown(const SloSearch& search);
Json to_json_value(const SloSearch& search);

}  // namespace hyperloom

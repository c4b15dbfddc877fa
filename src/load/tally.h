// A run's figures gathered request by request. Of each request only what they need stays (72 bytes): texts go, and so do
// token marks, but for the requests that stood astride an edge of the window. Time between tokens goes into a histogram
// with a relative error of 0.1 %.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/log_histogram.h"
#include "load/metrics.h"
#include "load/request_record.h"

namespace hyperloom {

struct RequestFigures {
  double intended_s = 0, free_s = 0, sent_s = 0, first_token_s = 0, last_token_s = 0, end_s = 0;   // as in RequestRecord
  int prompt_tokens = -1, output_tokens = -1, events = 0;
  int marked_tokens = 0;                   // what the last token mark says
  RequestState state = RequestState::CutOff;
  uint8_t finish = 0;                      // place in the tally's names
  uint16_t fail_kind = 0;
  bool within_limits = false, repetitive = false, empty = false;

  int tokens() const { return output_tokens >= 0 ? output_tokens : events; }
  double ttft_s() const { return first_token_s > 0 ? first_token_s - intended_s : -1; }
  double e2e_s() const { return end_s > 0 ? end_s - intended_s : -1; }
  double tpot_s() const { return first_token_s <= 0 || tokens() < 2 ? -1 : (last_token_s - first_token_s) / (tokens() - 1); }
};

// Requests due inside the window that tell something of a limit (itl: tokens), and how many of them were slower than it
// allows. What failed or timed out was slower than any limit; what was cut off tells nothing.
struct LimitCount {
  double judged = 0, over = 0;
  bool met(const Limit& limit) const;    // nearest rank: no more than 1 - percentile of those judged, and some were
};

using EdgeMarks = std::map<size_t, std::vector<TokenMark>>;   // by place among the figures

class LoadTally {
 public:
  static constexpr double kNotYet = std::numeric_limits<double>::infinity();

  explicit LoadTally(std::vector<Limit> limits) : limits_(std::move(limits)), counts_(limits_.size()) {}
  void reserve(size_t requests) { figures_.reserve(requests); }

  // A request that has ended, and the window as far as it is known by now.
  void add(const RequestRecord& record, double window_start_s, double window_end_s);
  LoadSummary summary(double window_start_s, double window_end_s) const;

  std::vector<LimitCount> limit_counts() const;         // in the order of the limits
  double tokens() const { return tokens_; }             // of all requests, whatever the window
  double answered_prompt_tokens() const { return answered_prompt_tokens_; }
  const LogHistogram& itl_s() const { return itl_s_; }
  const std::vector<RequestFigures>& figures() const { return figures_; }

 private:
  std::vector<Limit> limits_;
  std::vector<LimitCount> counts_;         // of what completed
  int due_completed_ = 0, due_failed_ = 0; // inside the window
  std::vector<RequestFigures> figures_;
  EdgeMarks marks_;
  std::vector<std::string> names_{""};     // finish reasons and kinds of failure
  LogHistogram itl_s_{0.001};              // of completed requests that were due inside the window
  double tokens_ = 0, answered_prompt_tokens_ = 0, cached_tokens_ = 0, cached_of_ = 0;
  double shared_tokens_ = 0, shared_of_ = 0, tokens_for_asked_ = 0, asked_tokens_ = 0;
  int odd_usage_ = 0, retries_ = 0;

  void count_limits(const RequestFigures& figures, const std::vector<TokenGap>& gaps);
  uint16_t name_of(const std::string& text, size_t most);
};

}  // namespace hyperloom

#include "load/tally.h"

#include <algorithm>

#include "base/text.h"

namespace hyperloom {
namespace {

constexpr size_t kMostNames = 250;         // a server that invents finish reasons must not fill memory: the rest is "other"
constexpr size_t kMostNameBytes = 64;

double gap_percentile(std::vector<TokenGap> gaps, double percent) {
  if (gaps.empty()) return -1;
  std::sort(gaps.begin(), gaps.end(), [](const TokenGap& a, const TokenGap& b) { return a.seconds < b.seconds; });
  double total = 0, seen = 0;
  for (const TokenGap& gap : gaps) total += gap.tokens;
  for (const TokenGap& gap : gaps)
    if ((seen += gap.tokens) >= percent / 100 * total - 1e-9) return gap.seconds;
  return gaps.back().seconds;
}

// What a request alone shows of a limit's metric, in seconds; nothing to hold against it when < 0.
double own_value_s(const RequestFigures& figures, const std::vector<TokenGap>& gaps, const Limit& limit) {
  if (limit.metric == "ttft") return figures.ttft_s();
  if (limit.metric == "tpot") return figures.tpot_s();
  if (limit.metric == "e2e") return figures.e2e_s();
  return gap_percentile(gaps, limit.percentile);
}

bool stands_astride(const std::vector<TokenMark>& marks, double edge_s) {
  return !marks.empty() && marks.front().at_s < edge_s && edge_s < marks.back().at_s;
}

}  // namespace

uint16_t LoadTally::name_of(const std::string& text, size_t most) {
  const std::string name = text.size() > kMostNameBytes ? text.substr(0, kMostNameBytes) : text;
  const auto known = std::find(names_.begin(), names_.end(), name);
  if (known != names_.end()) return static_cast<uint16_t>(known - names_.begin());
  if (names_.size() >= most) return name == "other" ? 0 : name_of("other", most + 1);
  names_.push_back(name);
  return static_cast<uint16_t>(names_.size() - 1);
}

bool LimitCount::met(const Limit& limit) const {
  return judged > 0 && over <= (1 - limit.percentile / 100) * judged + 1e-9;
}

void LoadTally::count_limits(const RequestFigures& f, const std::vector<TokenGap>& gaps) {
  for (size_t i = 0; i < limits_.size(); ++i) {
    LimitCount& count = counts_[i];
    if (limits_[i].metric == "itl") {
      for (const TokenGap& gap : gaps) {
        count.judged += gap.tokens;
        if (gap.seconds * 1e3 > limits_[i].max_ms) count.over += gap.tokens;
      }
      continue;
    }
    const double value_s = own_value_s(f, gaps, limits_[i]);
    count.judged += value_s >= 0;
    count.over += value_s * 1e3 > limits_[i].max_ms;
  }
}

std::vector<LimitCount> LoadTally::limit_counts() const {
  std::vector<LimitCount> counts = counts_;
  for (size_t i = 0; i < counts.size(); ++i) {
    // A request that failed had as many tokens to come as the others.
    const bool by_token = limits_[i].metric == "itl" && due_completed_ > 0;
    const double failed = due_failed_ * (by_token ? counts[i].judged / due_completed_ : 1.0);
    counts[i].judged += failed;
    counts[i].over += failed;
  }
  return counts;
}

void LoadTally::add(const RequestRecord& r, double window_start_s, double window_end_s) {
  RequestFigures f;
  f.intended_s = r.intended_s, f.free_s = std::max(r.intended_s, r.free_s), f.sent_s = r.sent_s, f.end_s = r.end_s;
  f.first_token_s = r.first_token_s, f.last_token_s = r.last_token_s;
  f.prompt_tokens = r.prompt_tokens, f.output_tokens = r.output_tokens, f.events = r.counted_chunks;
  f.marked_tokens = r.marks.empty() ? 0 : r.marks.back().tokens;
  f.state = r.state;
  f.fail_kind = name_of(r.fail_kind, kMostNames);
  f.finish = static_cast<uint8_t>(name_of(r.finish_reason, kMostNames));
  tokens_ += f.tokens();
  if (stands_astride(r.marks, window_start_s) || stands_astride(r.marks, window_end_s)) marks_[figures_.size()] = r.marks;
  const bool due_inside = r.intended_s >= window_start_s && r.intended_s <= window_end_s;
  due_completed_ += due_inside && r.state == RequestState::Completed;
  due_failed_ += due_inside && (r.state == RequestState::Failed || r.state == RequestState::TimedOut);
  const bool since_opening = window_start_s != kNotYet && r.end_s >= window_start_s;
  if (since_opening) retries_ += r.retries;
  if (r.state == RequestState::Completed) {
    answered_prompt_tokens_ += std::max(0, r.prompt_tokens);
    if (r.asked_tokens > 0 && r.prompt_tokens > 0) tokens_for_asked_ += r.prompt_tokens, asked_tokens_ += r.asked_tokens;
    if (since_opening && r.prompt_tokens > 0) shared_tokens_ += r.shared * r.prompt_tokens, shared_of_ += r.prompt_tokens;
    if (since_opening) odd_usage_ += r.odd_usage;
    if (since_opening && r.cached_tokens >= 0 && r.prompt_tokens > 0) {
      cached_tokens_ += std::min(r.cached_tokens, r.prompt_tokens);
      cached_of_ += r.prompt_tokens;
    }
    f.repetitive = looks_repetitive(r.text.empty() ? r.reasoning : r.text);
    f.empty = trim(r.text).empty() && r.finish_reason != "tool_calls";
    const std::vector<TokenGap> gaps = r.gaps();
    if (due_inside) count_limits(f, gaps);
    if (due_inside)
      for (const TokenGap& gap : gaps) itl_s_.add(gap.seconds, static_cast<uint64_t>(gap.tokens));
    f.within_limits = std::all_of(limits_.begin(), limits_.end(), [&](const Limit& limit) {
      return own_value_s(f, gaps, limit) * 1e3 <= limit.max_ms;
    });
  }
  figures_.push_back(f);
}

LoadSummary summarise(const std::vector<RequestRecord>& records, double window_start_s, double window_end_s,
                      const std::vector<Limit>& limits) {
  LoadTally tally(limits);
  tally.reserve(records.size());
  for (const RequestRecord& record : records) tally.add(record, window_start_s, window_end_s);
  return tally.summary(window_start_s, window_end_s);
}

}  // namespace hyperloom

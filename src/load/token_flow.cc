#include "load/token_flow.h"

#include <algorithm>

namespace hyperloom {

namespace {

bool counts(const RequestRecord& record) {
  return record.state == RequestState::Completed || record.state == RequestState::CutOff;
}

double end_of(const RequestRecord& record) {
  return record.end_s > 0 ? record.end_s : record.last_token_s;
}

}  // namespace

TokenFlow::TokenFlow(const std::vector<RequestRecord>& records, double start_s, double end_s)
    : start_s_(start_s), end_s_(end_s) {
  double tokens = 0, events = 0;
  for (const RequestRecord& r : records) {
    if (r.state != RequestState::Completed || r.output_tokens < 0) continue;
    tokens += r.output_tokens;
    events += r.counted_chunks;
  }
  if (events > 0) tokens_per_event_ = tokens / events;
}

double TokenFlow::overlap(double from, double to) const {
  if (to <= from) return from >= start_s_ && from <= end_s_ ? 1 : 0;
  return std::max(0.0, std::min(to, end_s_) - std::max(from, start_s_)) / (to - from);
}

double TokenFlow::tokens_at(const RequestRecord& record, double at_s) const {
  const std::vector<TokenMark>& marks = record.marks;
  const auto after = std::upper_bound(marks.begin(), marks.end(), at_s,
                                      [](double at, const TokenMark& mark) { return at < mark.at_s; });
  if (after == marks.begin()) return 0;
  const TokenMark& before = *(after - 1);
  if (after == marks.end()) return before.tokens;
  return before.tokens + (after->tokens - before.tokens) * (at_s - before.at_s) / (after->at_s - before.at_s);
}

double TokenFlow::output_inside(const RequestRecord& record) const {
  if (!counts(record)) return 0;
  const double scale = record.output_tokens < 0 ? tokens_per_event_ : 1;
  // A plain body has no stream to tell when its tokens came.
  if (record.first_token_s <= 0) {
    return scale * record.tokens() * overlap(record.sent_s, end_of(record));
  }
  return scale * (tokens_at(record, end_s_) - tokens_at(record, start_s_));
}

double TokenFlow::prompt_inside(const RequestRecord& record) const {
  if (!counts(record) || record.prompt_tokens <= 0) return 0;
  const double read_by = record.first_token_s > 0 ? record.first_token_s : end_of(record);
  return record.prompt_tokens * overlap(record.sent_s, read_by);
}

double TokenFlow::share_inside(const RequestRecord& record) const {
  return overlap(record.sent_s, end_of(record));
}

}  // namespace hyperloom

#include "load/token_flow.h"

#include <algorithm>

namespace hyperloom {

namespace {

bool counts(const RequestFigures& f) {
  return f.state == RequestState::Completed || f.state == RequestState::CutOff;
}

double end_of(const RequestFigures& f) { return f.end_s > 0 ? f.end_s : f.last_token_s; }

}  // namespace

TokenFlow::TokenFlow(const std::vector<RequestFigures>& figures, const EdgeMarks& marks, double start_s, double end_s)
    : figures_(figures), marks_(marks), start_s_(start_s), end_s_(end_s) {
  double tokens = 0, events = 0;
  for (const RequestFigures& f : figures) {
    if (f.state != RequestState::Completed || f.output_tokens < 0) continue;
    tokens += f.output_tokens;
    events += f.events;
  }
  if (events > 0) tokens_per_event_ = tokens / events;
}

double TokenFlow::overlap(double from, double to) const {
  if (to <= from) return from >= start_s_ && from <= end_s_ ? 1 : 0;
  return std::max(0.0, std::min(to, end_s_) - std::max(from, start_s_)) / (to - from);
}

double TokenFlow::tokens_at(size_t place, double at_s) const {
  const RequestFigures& f = figures_[place];
  if (at_s < f.first_token_s) return 0;
  if (at_s >= f.last_token_s) return f.marked_tokens;
  const auto kept = marks_.find(place);
  // Only a window edge that was set back in time finds no marks: evenly, then.
  if (kept == marks_.end()) return f.marked_tokens * (at_s - f.first_token_s) / (f.last_token_s - f.first_token_s);
  const std::vector<TokenMark>& marks = kept->second;
  const auto after = std::upper_bound(marks.begin(), marks.end(), at_s,
                                      [](double at, const TokenMark& mark) { return at < mark.at_s; });
  if (after == marks.begin()) return 0;
  const TokenMark& before = *(after - 1);
  if (after == marks.end()) return before.tokens;
  return before.tokens + (after->tokens - before.tokens) * (at_s - before.at_s) / (after->at_s - before.at_s);
}

double TokenFlow::output_inside(size_t place) const {
  const RequestFigures& f = figures_[place];
  if (!counts(f)) return 0;
  const double scale = f.output_tokens < 0 ? tokens_per_event_ : 1;
  // A plain body has no stream to tell when its tokens came.
  if (f.first_token_s <= 0) return scale * f.tokens() * overlap(f.sent_s, end_of(f));
  return scale * (tokens_at(place, end_s_) - tokens_at(place, start_s_));
}

double TokenFlow::prompt_inside(size_t place) const {
  const RequestFigures& f = figures_[place];
  if (!counts(f) || f.prompt_tokens <= 0) return 0;
  const double read_by = f.first_token_s > 0 ? f.first_token_s : end_of(f);
  return f.prompt_tokens * overlap(f.sent_s, read_by);
}

double TokenFlow::share_inside(size_t place) const {
  return overlap(figures_[place].sent_s, end_of(figures_[place]));
}

}  // namespace hyperloom

#include "load/request_record.h"

#include <nlohmann/json.hpp>

namespace hyperloom {

const char* name_of(RequestState state) {
  switch (state) {
    case RequestState::Completed: return "completed";
    case RequestState::Failed: return "failed";
    case RequestState::TimedOut: return "timed_out";
    case RequestState::CutOff: return "cut_off";
  }
  return "?";
}

int RequestRecord::tokens() const { return output_tokens >= 0 ? output_tokens : counted_chunks; }

double RequestRecord::ttft_s() const {
  return first_token_s > 0 ? first_token_s - intended_s : -1;
}

// The plain rule. A bundled first event flatters it (case b03), but it is what every other tool reports.
double RequestRecord::tpot_s() const {
  if (first_token_s <= 0 || tokens() < 2) return -1;
  return (last_token_s - first_token_s) / (tokens() - 1);
}

double RequestRecord::e2e_s() const { return end_s > 0 ? end_s - intended_s : -1; }

std::vector<TokenGap> RequestRecord::gaps() const {
  std::vector<TokenGap> gaps;
  gaps.reserve(marks.size());
  double since = marks.empty() ? 0 : marks.front().at_s;
  for (size_t i = 1; i < marks.size(); ++i) {
    const int fresh = marks[i].tokens - marks[i - 1].tokens;
    if (fresh <= 0) continue;   // an event without a new token: its wait belongs to the next one
    gaps.push_back({(marks[i].at_s - since) / fresh, fresh});
    since = marks[i].at_s;
  }
  return gaps;
}

std::vector<double> RequestRecord::itl_s() const {
  std::vector<double> seconds;
  for (const TokenGap& gap : gaps()) seconds.insert(seconds.end(), static_cast<size_t>(gap.tokens), gap.seconds);
  return seconds;
}

Json to_json_value(const RequestRecord& r) {
  Json json = {{"id", r.id},
               {"state", name_of(r.state)},
               {"intended_s", r.intended_s},
               {"sent_s", r.sent_s},
               {"output_tokens", r.tokens()},
               {"tokens_by", r.output_tokens >= 0 ? "usage" : "event_count"},
               {"events_with_text", r.counted_chunks},
               {"text", r.text}};
  auto time = [&json](const char* name, double value) {
    if (value > 0) json[name] = value;
  };
  time("free_s", r.free_s);
  time("first_byte_s", r.first_byte_s);
  time("first_token_s", r.first_token_s);
  time("first_answer_s", r.first_answer_s);
  time("last_token_s", r.last_token_s);
  time("end_s", r.end_s);
  auto span = [&json](const char* name, double seconds) {
    if (seconds >= 0) json[name] = seconds * 1e3;
  };
  span("ttft_ms", r.ttft_s());
  span("tpot_ms", r.tpot_s());
  span("e2e_ms", r.e2e_s());
  auto word = [&json](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  word("fail_kind", r.fail_kind);
  word("fail_text", r.fail_text);
  word("finish_reason", r.finish_reason);
  word("reasoning", r.reasoning);
  if (r.turn > 0) json["turn"] = r.turn;
  if (r.http_status > 0) json["http_status"] = r.http_status;
  if (r.prompt_tokens >= 0) json["prompt_tokens"] = r.prompt_tokens;
  if (r.cached_tokens >= 0) json["cached_tokens"] = r.cached_tokens;
  if (r.odd_usage) json["odd_usage"] = true;
  if (r.retries > 0) json["retries"] = r.retries;
  Json marks = Json::array();
  for (const TokenMark& mark : r.marks) marks.push_back({mark.at_s, mark.tokens});
  json["marks"] = std::move(marks);
  return json;
}

}  // namespace hyperloom

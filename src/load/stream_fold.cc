#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/printable.h"
#include "base/text.h"
#include "load/bounded_json.h"
#include "load/request_record.h"

namespace hyperloom {

namespace {

constexpr size_t kMaxRawBytes = size_t{16} << 20;
constexpr size_t kMaxFailText = 2000;

const Json& child(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto at = object.find(key);
  return at == object.end() ? kNull : *at;
}

std::string string_at(const Json& object, const char* key) {
  const Json& value = child(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

constexpr double kMostTokens = 1e7;   // of one request; more is a broken counter

// -1 when absent or no sensible count; the latter is odd.
int count_at(const Json& object, const char* key, bool& odd) {
  const Json& value = child(object, key);
  if (!value.is_number()) return -1;
  const double number = value.get<double>();
  if (number >= 0 && number <= kMostTokens) return static_cast<int>(number);
  odd = true;
  return -1;
}

// The words of an error body: {"error": {"message"}} (OpenAI), {"error": "..."}, {"message"} with
// "object": "error" (older vLLM). Nothing = this is no error.
std::optional<std::string> error_of(const Json& answer) {
  const Json& error = child(answer, "error");
  if (error.is_string() && !error.get_ref<const std::string&>().empty()) return error;
  if (!error.is_null() && !error.is_string() && error != Json(false)) {
    const std::string message = string_at(error, "message");
    return message.empty() ? error.dump(-1, ' ', false, Json::error_handler_t::replace) : message;
  }
  if (string_at(answer, "object") == "error") return string_at(answer, "message");
  return std::nullopt;
}

// Text of a delta that is generated though it is no answer text: names and arguments of tool calls.
bool has_tool_text(const Json& delta) {
  auto any = [](const Json& function) {
    return !string_at(function, "name").empty() || !string_at(function, "arguments").empty();
  };
  if (any(child(delta, "function_call"))) return true;
  const Json& calls = child(delta, "tool_calls");
  if (!calls.is_array()) return false;
  return std::any_of(calls.begin(), calls.end(),
                     [&](const Json& call) { return any(child(call, "function")); });
}

}  // namespace

StreamFold::StreamFold(RequestRecord& record, bool chat)
    : record_(record), chat_(chat), parser_([this](const SseEvent& event) { on_event(event); }) {}

void StreamFold::on_bytes(std::string_view bytes, double now_s) {
  now_s_ = now_s;
  bytes_ += bytes.size();
  if (record_.first_byte_s == 0 && !bytes.empty()) record_.first_byte_s = now_s;
  if (answers_ == 0 && raw_.size() < kMaxRawBytes) {
    raw_ += bytes.substr(0, kMaxRawBytes - raw_.size());
  }
  parser_.feed(bytes);
}

void StreamFold::on_event(const SseEvent& event) {
  if (record_.ended_by_done) return;
  if (event.data.size() < 64 && trim(event.data) == "[DONE]") {
    record_.ended_by_done = true;
    return;
  }
  if (error_event_) return;
  if (event.event.empty() && answers_ > 0) {
    if (const auto known = template_.match(event.data)) {
      ++answers_;
      known->reasoning ? add_text({}, known->text) : add_text(known->text, {});
      note_token();
      return add_mark(-1);
    }
  }
  Json answer = parse_bounded(event.data);
  // A stream of events is decoded with replacement (HTML standard, 9.2.5), so broken UTF-8 does not break an event.
  if (answer.is_discarded()) answer = parse_bounded(valid_utf8(event.data));
  const bool is_error = event.event == "error";
  if (!answer.is_object()) {
    if (is_error) {
      error_event_ = true;
      record_.fail_text = event.data.substr(0, kMaxFailText);
    } else if (!ending_) {   // a cut at the end is no malformed event but an unfinished answer
      bad_event_ = true;
      record_.fail_text = event.data.substr(0, kMaxFailText);
    }
    return;
  }
  const std::optional<std::string> error = error_of(answer);
  if (is_error || error) {
    error_event_ = true;
    const std::string text = error.value_or(string_at(answer, "message"));
    record_.fail_text = (text.empty() ? event.data : text).substr(0, kMaxFailText);
    return;
  }
  if (++answers_ == 1) raw_.clear();
  fold_answer(answer, false);
  if (event.event.empty()) template_.learn(event.data, answer);
}

void StreamFold::fold_answer(const Json& answer, bool plain) {
  bool generated = false;
  const Json& choices = child(answer, "choices");
  if (choices.is_array()) {
    for (const Json& choice : choices) generated |= fold_choice(choice);
  }
  const Json& usage = child(answer, "usage");
  fold_usage(usage);
  if (!generated) return;
  note_token();
  if (plain) record_.first_token_s = 0;
  bool odd = false;
  add_mark(count_at(usage, "completion_tokens", odd));
}

void StreamFold::note_token() {
  ++record_.counted_chunks;
  record_.last_token_s = now_s_;
  if (record_.first_token_s == 0) record_.first_token_s = now_s_;
}

void StreamFold::add_text(std::string_view text, std::string_view reasoning) {
  record_.text += text;
  record_.reasoning += reasoning;
  if (!text.empty() && record_.first_answer_s == 0) record_.first_answer_s = now_s_;
}

// Cumulative: the last value counts, never the sum.
void StreamFold::fold_usage(const Json& usage) {
  if (!usage.is_object()) return;
  if (const int prompt = count_at(usage, "prompt_tokens", record_.odd_usage); prompt >= 0) {
    record_.prompt_tokens = prompt;
  }
  if (const int output = count_at(usage, "completion_tokens", record_.odd_usage); output >= 0) {
    record_.odd_usage |= output < record_.output_tokens;
    record_.output_tokens = output;
  }
  const int cached = count_at(child(usage, "prompt_tokens_details"), "cached_tokens", record_.odd_usage);
  if (cached >= 0) record_.cached_tokens = cached;
}

bool StreamFold::fold_choice(const Json& choice) {
  if (!choice.is_object()) return false;
  const std::string finish = string_at(choice, "finish_reason");
  if (!finish.empty()) record_.finish_reason = finish;
  const Json& delta = child(choice, "delta").is_object() ? child(choice, "delta")
                                                         : child(choice, "message");
  std::string text = string_at(delta, "content") + string_at(delta, "refusal");
  if (!chat_ || !delta.is_object()) text += string_at(choice, "text");
  std::string reasoning = string_at(delta, "reasoning_content");
  if (reasoning.empty()) reasoning = string_at(delta, "reasoning");   // some servers send both
  add_text(text, reasoning);
  const bool tool = has_tool_text(delta);
  if (tool && record_.first_answer_s == 0) record_.first_answer_s = now_s_;
  return tool || !text.empty() || !reasoning.empty();
}

void StreamFold::add_mark(int said) {
  const int before = record_.marks.empty() ? 0 : record_.marks.back().tokens;
  if (said > 0) ++marks_by_usage_;
  record_.marks.push_back({now_s_, std::max(before, said > 0 ? said : before + 1)});
}

void StreamFold::fold_plain_body() {
  const Json answer = parse_bounded(valid_utf8(raw_));
  if (!answer.is_object()) return;
  if (const std::optional<std::string> error = error_of(answer)) {
    error_event_ = true;
    record_.fail_text = error->substr(0, kMaxFailText);
    return;
  }
  ++answers_;
  fold_answer(answer, true);
  record_.first_answer_s = 0;
}

// Unless each event said how many tokens there were, the usage at the end is shared out evenly over them.
void StreamFold::spread_marks() {
  if (record_.output_tokens == 0 && record_.counted_chunks > 0) record_.output_tokens = -1;
  const size_t events = record_.marks.size();
  const bool stands = marks_by_usage_ == static_cast<int>(events) && events > 0 && record_.marks.back().tokens <= record_.output_tokens;
  if (record_.output_tokens <= 0 || stands) return;
  for (size_t i = 0; i < events; ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(events);
    record_.marks[i].tokens = static_cast<int>(std::lround(share * record_.output_tokens));
  }
}

void StreamFold::on_end(int http_status, const std::string& transport_error, double now_s) {
  now_s_ = now_s;
  ending_ = true;
  record_.end_s = now_s;
  record_.http_status = http_status;
  parser_.finish();
  const bool http_ok = http_status == 0 || (http_status >= 200 && http_status < 300);
  if (http_ok && answers_ == 0 && !error_event_ && !refused()) fold_plain_body();
  spread_marks();
  judge(http_status, transport_error);
}

void StreamFold::judge(int http_status, const std::string& transport_error) {
  if (http_status != 0 && (http_status < 200 || http_status >= 300)) {
    const Json body = parse_bounded(raw_);
    std::string said = error_of(body).value_or("");
    if (said.empty()) said = string_at(body, "detail");   // FastAPI
    if (said.empty()) said = record_.fail_text.empty() ? trim(raw_.substr(0, kMaxFailText))
                                                       : record_.fail_text;
    return fail("http_" + std::to_string(http_status), said);
  }
  if (error_event_) return fail("error_event_in_stream", record_.fail_text);
  if (bad_event_) return fail("malformed_event", record_.fail_text);
  if (parser_.overflowed()) return fail("event_too_large", "an event longer than 16 MiB");
  if (refused()) return fail("answer_too_large", "an answer longer than 256 MiB");
  // After [DONE] all has been said: a rude close changes nothing.
  if (!transport_error.empty() && !record_.ended_by_done) return fail("transport", transport_error);
  if (answers_ == 0) {
    return fail("no_events", raw_.empty() ? "the answer was empty"
                                          : "no answer in: " + raw_.substr(0, 200));
  }
  const bool finished = !record_.finish_reason.empty() ||
                        (record_.ended_by_done && record_.counted_chunks > 0);
  if (!finished) {
    return fail("ended_without_finish", "the stream ended without finish_reason and without [DONE]");
  }
  record_.state = RequestState::Completed;
}

void StreamFold::fail(const std::string& kind, const std::string& text) {
  record_.state = RequestState::Failed;
  record_.fail_kind = kind;
  record_.fail_text = text.substr(0, kMaxFailText);
}

}  // namespace hyperloom

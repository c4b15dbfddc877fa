// One request as it happened, folded from its stream. Times in seconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "load/event_template.h"
#include "net/sse.h"

namespace hyperloom {

enum class RequestState : uint8_t { Completed, Failed, TimedOut, CutOff };
const char* name_of(RequestState state);

struct TokenMark { double at_s; int tokens; };   // cumulative output tokens known at that moment
struct TokenGap { double seconds; int tokens; }; // so many tokens came with this time between each

struct RequestRecord {
  int id = 0;
  double intended_s = 0, sent_s = 0, first_byte_s = 0, first_token_s = 0, first_answer_s = 0, last_token_s = 0, end_s = 0;   // 0 = never
  double free_s = 0;                             // when it might go: later than intended_s where a bound on requests in flight held it; 0 = then
  RequestState state = RequestState::CutOff;
  std::string fail_kind, fail_text;              // error_event_in_stream, ended_without_finish, no_events, http_500, transport, event_too_large, ...
  std::string finish_reason;
  int http_status = 0;
  int prompt_tokens = -1, output_tokens = -1;    // by usage; -1 = the server did not say
  int cached_tokens = -1;                        // of the prompt, taken from the server's prefix cache, by usage
  int turn = 0;                                  // of its conversation, from 1; 0 = it stands alone
  int asked_tokens = 0;                          // of the prompt, as planned; 0 = not said
  double shared = 0;                             // share of the prompt that an earlier one began with, by intent
  bool odd_usage = false;                        // usage ran backwards, was negative or absurd
  int retries = 0;                               // sent again: a kept-alive connection had been closed meanwhile
  int counted_chunks = 0;                        // events that carried generated text of any kind
  bool ended_by_done = false;
  std::vector<TokenMark> marks;
  std::string text, reasoning;

  int tokens() const;                            // usage, else counted chunks
  double ttft_s() const;                         // from the intended send time; < 0 = absent
  double tpot_s() const;                         // (last token - first) / (tokens - 1); < 0 = absent
  double e2e_s() const;
  std::vector<TokenGap> gaps() const;            // by usage differences where the stream gives them
  std::vector<double> itl_s() const;             // the same, token by token
};
Json to_json_value(const RequestRecord& record);

// Folds one response, streamed or one plain JSON body, into its record. Owner: the load generator, one per
// request in flight. A plain body has an end but no first token: TTFT and TPOT stay absent.
class StreamFold {
 public:
  StreamFold(RequestRecord& record, bool chat);
  StreamFold(const StreamFold&) = delete;        // its parser calls back into it
  void on_bytes(std::string_view bytes, double now_s);
  // `http_status` 0 and `transport_error` for a broken connection. Sets the final state.
  void on_end(int http_status, const std::string& transport_error, double now_s);
  // An event or the whole answer is beyond all bounds (16 MiB, 256 MiB): read no further, on_end() will call it failed.
  bool refused() const { return parser_.overflowed() || bytes_ > kMostAnswerBytes; }

 private:
  void on_event(const SseEvent& event);
  void fold_answer(const Json& answer, bool plain);
  bool fold_choice(const Json& choice);          // whether it carried generated text of any kind
  void add_text(std::string_view text, std::string_view reasoning);
  void note_token();                             // an event that carried generated text
  void add_mark(int said);                       // `said`: output tokens so far by usage, <= 0 = the event has none
  void fold_plain_body();
  void fold_usage(const Json& usage);
  void spread_marks();
  void judge(int http_status, const std::string& transport_error);
  void fail(const std::string& kind, const std::string& text);

  RequestRecord& record_;
  bool chat_;
  double now_s_ = 0;
  bool error_event_ = false, bad_event_ = false, ending_ = false;
  static constexpr size_t kMostAnswerBytes = size_t{256} << 20;
  size_t bytes_ = 0;
  int answers_ = 0;                              // JSON objects understood
  int marks_by_usage_ = 0;
  EventTemplate template_;
  std::string raw_;                              // head of a non-streamed body
  SseParser parser_;
};

}  // namespace hyperloom

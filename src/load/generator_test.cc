#include "load/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../../tests/fakes/python_server.h"
#include "base/error.h"
#include "base/text.h"
#include "load/request_body.h"
#include "net/http.h"
#include "os/event_loop.h"

namespace hyperloom {
namespace {

using testing::Contains;
using testing::HasSubstr;

RequestTrace trace_of(int count, int tokens) {
  RequestTrace trace;
  for (int i = 0; i < count; ++i) trace.requests.push_back({"word " + std::to_string(i) + " and more", tokens, 0});
  return trace;
}

LoadSpec closed_loop(const PythonServer& server, int clients) {
  LoadSpec spec;
  spec.url = server.url();
  spec.model = "m";
  spec.traffic.clients = clients;
  return spec;
}

std::vector<Json> log_of(const PythonServer& server) {
  std::vector<Json> lines;
  for (const std::string& line : split(read_file(server.log()), '\n')) {
    if (!line.empty()) lines.push_back(Json::parse(line));
  }
  return lines;
}

TEST(Generator, ClosedLoopKeepsItsClientsBusyAndCountsExactly) {
  const PythonServer server({"--tokens-per-second", "200"});
  LoadSpec spec = closed_loop(server, 3);
  spec.warmup_requests = 3;
  const LoadResult result = run_load(spec, trace_of(12, 10));
  ASSERT_EQ(result.records.size(), 12u);
  for (const RequestRecord& r : result.records) {
    EXPECT_EQ(r.state, RequestState::Completed) << r.fail_text;
    EXPECT_EQ(r.output_tokens, 10);
    EXPECT_EQ(r.prompt_tokens, 4);
    EXPECT_EQ(r.finish_reason, "length");
    EXPECT_GE(r.sent_s, r.intended_s);
    EXPECT_GT(r.first_token_s, r.sent_s);
    EXPECT_LE(r.last_token_s, r.end_s);
    EXPECT_EQ(r.marks.size(), 10u);
  }
  int most = 0;
  for (const Json& line : log_of(server)) most = std::max(most, line["active"].get<int>());
  EXPECT_EQ(most, 3);
  // The window opens when the last of the warm-up requests has landed, and closes before the drain.
  double warm = 0, last = 0;
  for (const RequestRecord& r : result.records) {
    if (r.id < 3) warm = std::max(warm, r.end_s);
    last = std::max(last, r.end_s);
  }
  EXPECT_EQ(result.window_start_s, warm);
  EXPECT_LE(result.window_end_s, last);
  EXPECT_GT(result.summary.window_s, 0);
  EXPECT_EQ(result.summary.failed + result.summary.timed_out + result.summary.cut_off, 0);
  EXPECT_LE(result.summary.output_tokens, 90);
  EXPECT_GT(result.summary.output_tokens, 30);
  EXPECT_FALSE(result.summary.usage_missing);
  EXPECT_FALSE(result.stopped);
}

TEST(Generator, SendsWhatTheWorkloadSaysAndNothingElse) {
  const PythonServer server;
  LoadSpec spec = closed_loop(server, 1);
  spec.headers = {"Authorization: Bearer k"};
  spec.traffic.seed = 9;
  run_load(spec, trace_of(1, 5));
  spec.traffic.api = Traffic::Api::Completions;
  spec.traffic.ignore_eos = false;
  spec.temperature_zero = false;
  run_load(spec, trace_of(1, 6));
  const std::vector<Json> log = log_of(server);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0]["path"], "/v1/chat/completions");
  EXPECT_EQ(log[0]["authorization"], "Bearer k");
  EXPECT_EQ(log[0]["body"], Json::parse(R"({"model":"m","max_tokens":5,"stream":true,"ignore_eos":true,"seed":9,
      "stream_options":{"include_usage":true},"temperature":0,
      "messages":[{"role":"user","content":"word 0 and more"}]})"));
  EXPECT_EQ(log[1]["path"], "/v1/completions");
  EXPECT_EQ(log[1]["body"], Json::parse(R"({"model":"m","max_tokens":6,"stream":true,
      "stream_options":{"include_usage":true},"prompt":"word 0 and more"})"));
}

TEST(Generator, BaseUrlsInEveryForm) {
  for (const char* base : {"http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"}) {
    EXPECT_EQ(endpoint_url(base, Traffic::Api::Completions), "http://h:1/v1/completions");
  }
}

TEST(Generator, PoissonSendsAtTheIntendedTimesWhateverTheServerDoes) {
  const PythonServer server({"--first-token-ms", "300"});
  LoadSpec spec = closed_loop(server, 0);
  spec.traffic.kind = Traffic::Kind::Open;
  spec.traffic.rate_rps = 50;
  spec.warmup_requests = 2;
  RequestTrace trace = trace_of(10, 3);
  for (size_t i = 0; i < 10; ++i) trace.requests[i].at_s = 0.02 * static_cast<double>(i);
  const LoadResult result = run_load(spec, trace);
  const double begun = result.records[0].intended_s;
  for (size_t i = 0; i < 10; ++i) {
    const RequestRecord& r = result.records[i];
    EXPECT_NEAR(r.intended_s - begun, trace.requests[i].at_s, 1e-9);
    EXPECT_GE(r.sent_s, r.intended_s);
    EXPECT_GE(r.ttft_s(), 0.3);
    EXPECT_EQ(r.state, RequestState::Completed);
  }
  EXPECT_NEAR(result.window_start_s - begun, 0.04, 1e-9);
  EXPECT_NEAR(result.window_end_s - begun, 0.18, 1e-9);
  EXPECT_EQ(result.summary.ttft_ms.count, 8);
}

TEST(Generator, AnOpenLoopDoesNotWaitForAnswers) {
  const PythonServer server({"--hang"});
  LoadSpec spec = closed_loop(server, 0);
  spec.traffic.kind = Traffic::Kind::Open;
  spec.request_timeout_s = 1;
  const LoadResult result = run_load(spec, trace_of(6, 3));
  EXPECT_EQ(result.summary.timed_out, 6);
  for (const RequestRecord& r : result.records) EXPECT_EQ(r.fail_kind, "timeout");
}

TEST(Generator, ABoundHoldsBackWhatIsDueAndTheWaitCountsAsLatency) {
  const PythonServer server({"--first-token-ms", "200"});
  LoadSpec spec = closed_loop(server, 0);
  spec.traffic.kind = Traffic::Kind::Open;
  spec.traffic.arrival.max_in_flight = 2;
  const LoadResult result = run_load(spec, trace_of(6, 3));
  int most = 0;
  for (const Json& line : log_of(server)) most = std::max(most, line["active"].get<int>());
  EXPECT_EQ(most, 2);
  ASSERT_EQ(result.records.size(), 6u);
  double latest = 0;
  for (const RequestRecord& r : result.records) {
    EXPECT_EQ(r.state, RequestState::Completed);
    EXPECT_EQ(r.intended_s, result.records[0].intended_s);
    EXPECT_EQ(r.free_s > 0, r.id >= 2);
    EXPECT_GE(r.sent_s, r.free_s);
    EXPECT_GE(r.ttft_s(), 0.2 * (r.id / 2 + 1));
    latest = std::max(latest, r.sent_s - std::max(r.intended_s, r.free_s));
  }
  EXPECT_EQ(result.summary.ttft_ms.count, 6);
  EXPECT_DOUBLE_EQ(result.summary.send_lateness_ms.p99, latest * 1e3);   // only our own
}

struct Mischief {
  std::vector<std::string> flags;
  RequestState state;
  std::string kind;
};

TEST(Generator, EveryMischiefOfAServerHasItsState) {
  const Mischief all[] = {
      {{"--status", "500"}, RequestState::Failed, "http_500"},
      {{"--error-after", "3"}, RequestState::Failed, "error_event_in_stream"},
      {{"--drop-after", "3"}, RequestState::Failed, "transport"},
      {{"--cut-after", "3", "--no-done"}, RequestState::Failed, "ended_without_finish"},
      {{"--hang"}, RequestState::TimedOut, "timeout"},
      {{"--stall-after", "2"}, RequestState::TimedOut, "timeout"},
      {{"--die-after", "1"}, RequestState::Failed, "transport"},
      {{"--no-done"}, RequestState::Completed, ""},
      {{"--no-stream"}, RequestState::Completed, ""},
      {{"--no-usage"}, RequestState::Completed, ""},
      {{"--tokens-per-chunk", "4"}, RequestState::Completed, ""},
      {{"--tokens-per-chunk", "4", "--chunk-usage"}, RequestState::Completed, ""},
      {{"--reasoning", "20"}, RequestState::Completed, ""},
  };
  for (const Mischief& m : all) {
    const PythonServer server(m.flags);
    LoadSpec spec = closed_loop(server, 2);
    if (m.state == RequestState::TimedOut) spec.request_timeout_s = 0.3;
    const LoadResult result = run_load(spec, trace_of(3, 10));
    ASSERT_EQ(result.records.size(), 3u);
    for (const RequestRecord& r : result.records) {
      EXPECT_EQ(r.state, m.state) << m.flags[0] << " " << r.fail_kind << " " << r.fail_text;
      EXPECT_EQ(r.fail_kind, m.kind) << m.flags[0];
      EXPECT_TRUE(m.state != RequestState::Completed || r.tokens() == 10) << m.flags[0];
    }
    EXPECT_EQ(result.summary.usage_missing, m.flags[0] == "--no-usage") << m.flags[0];
  }
}

TEST(Generator, ADeadServerIsGivenUpEarly) {
  LoadSpec spec;
  spec.url = "http://127.0.0.1:" + std::to_string(free_port());
  spec.traffic.clients = 2;
  const LoadResult result = run_load(spec, trace_of(1000, 10));
  EXPECT_LT(result.records.size(), 100u);
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("gave up early")));
}

TEST(Generator, TheTimeLimitCutsOffWhatIsInFlight) {
  const PythonServer server({"--stall-after", "4"});
  LoadSpec spec = closed_loop(server, 2);
  spec.time_limit_s = 1.5;
  const LoadResult result = run_load(spec, trace_of(5, 100));
  ASSERT_EQ(result.records.size(), 2u);   // the others were never sent
  EXPECT_EQ(result.summary.cut_off, 2);
  EXPECT_EQ(result.summary.failed, 0);
  EXPECT_TRUE(result.summary.censored);
  EXPECT_EQ(result.summary.output_tokens, 8);
  EXPECT_FALSE(result.stopped);
}

TEST(Generator, TheStopFlagEndsItAtOnce) {
  const PythonServer server({"--tokens-per-second", "100"});
  const LoadSpec spec = closed_loop(server, 1);
  volatile bool stop = false;
  int calls = 0;
  const LoadResult result = run_load(spec, trace_of(100000, 20), [&](const LoadProgress& progress) {
    EXPECT_EQ(progress.total, 100000);
    EXPECT_GT(progress.elapsed_s, 0);
    if (++calls == 2) stop = true;
  }, &stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.records.back().state, RequestState::CutOff);
}

TEST(Generator, ATraceTooShortForItsWarmUpSaysSo) {
  const PythonServer server({"--tokens-per-second", "300"});
  LoadSpec spec = closed_loop(server, 4);
  spec.warmup_requests = 5;
  const LoadResult result = run_load(spec, trace_of(6, 10));
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("too short")));
  EXPECT_LE(result.window_start_s, result.window_end_s);
}

TEST(Generator, TextIsDroppedOnlyAfterItWasJudged) {
  const PythonServer server({"--text", "ha"});
  LoadSpec spec = closed_loop(server, 1);
  spec.keep_text = false;
  const LoadResult result = run_load(spec, trace_of(2, 40));
  EXPECT_EQ(result.records[0].text, "");
  EXPECT_EQ(result.summary.empty, 0);
  EXPECT_EQ(result.summary.repetition, 1);
}

TEST(Generator, BadOrdersAreRefused) {
  LoadSpec spec;
  spec.url = "http://127.0.0.1:1";
  spec.traffic.clients = 1;
  EXPECT_THROW(run_load(spec, {}), Error);
  spec.warmup_requests = 3;
  EXPECT_THROW(run_load(spec, trace_of(3, 1)), Error);
  spec.warmup_requests = 0;
  spec.traffic.clients = 0;
  EXPECT_THROW(run_load(spec, trace_of(3, 1)), Error);
}

}  // namespace
}  // namespace hyperloom

#include "load/talks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../../tests/fakes/python_server.h"
#include "base/text.h"
#include "load/generator.h"
#include "load/request_body.h"

namespace hyperloom {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Conversations of so many turns each: "c0t0", "c0t1", ...
RequestTrace talks_of(const std::vector<int>& turns, double think_s = 0) {
  RequestTrace trace;
  for (size_t c = 0; c < turns.size(); ++c)
    for (int t = 0; t < turns[c]; ++t) {
      PlannedRequest request{"c" + std::to_string(c) + "t" + std::to_string(t), 3, 0};
      request.follows = t > 0;
      request.think_s = t > 0 ? think_s : 0;
      trace.requests.push_back(request);
    }
  return trace;
}

TEST(Talks, KnowOpeningsAndTurns) {
  const RequestTrace trace = talks_of({2, 1, 3});
  Talks talks(trace);
  EXPECT_EQ(talks.opening(0), 0u);
  EXPECT_EQ(talks.opening(1), 2u);
  EXPECT_EQ(talks.opening(4), 6u);
  EXPECT_TRUE(talks.goes_on(0));
  EXPECT_FALSE(talks.goes_on(1));
  EXPECT_FALSE(talks.goes_on(5));
  EXPECT_EQ(talks.turn(0), 1);
  EXPECT_EQ(talks.turn(2), 0);
}

TEST(Talks, CarryWhatWasSaid) {
  const RequestTrace trace = talks_of({3});
  Talks talks(trace);
  talks.answered(0, "first answer");
  EXPECT_TRUE(talks.before(0).empty());
  ASSERT_EQ(talks.before(1).size(), 1u);
  EXPECT_EQ(talks.before(1)[0].user, "c0t0");
  EXPECT_EQ(talks.before(1)[0].answer, "first answer");
  EXPECT_EQ(talks.turn(1), 2);
  EXPECT_DOUBLE_EQ(talks.shared(1), 16.0 / 20);
  talks.answered(1, "second");
  EXPECT_EQ(talks.before(2)[1].answer, "second");
  EXPECT_TRUE(talks.before(1).empty()) << "nothing is kept twice";
  EXPECT_EQ(talks.broken_off(2), 0u);
  EXPECT_TRUE(talks.before(2).empty());
}

TEST(Talks, CountTheTurnsThatAreLeftUnasked) {
  const RequestTrace trace = talks_of({4, 2});
  Talks talks(trace);
  EXPECT_EQ(talks.broken_off(1), 2u);
  EXPECT_EQ(talks.broken_off(4), 1u);
}

TEST(Talks, GoIntoTheBodyOfTheNextTurn) {
  LoadSpec spec;
  const std::vector<Said> before = {{"hello", "hi"}, {"how?", ""}};
  EXPECT_EQ(Json::parse(request_body(spec, {"so", 3, 0}, before))["messages"], Json::parse(R"([{"role": "user", "content": "hello"},
      {"role": "assistant", "content": "hi"}, {"role": "user", "content": "how?"}, {"role": "assistant", "content": ""}, {"role": "user", "content": "so"}])"));
  spec.traffic.api = Traffic::Api::Completions;
  EXPECT_EQ(Json::parse(request_body(spec, {"so", 3, 0}, before))["prompt"], "hello\nhi\nhow?\n\nso");
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
  for (const std::string& line : split(read_file(server.log()), '\n'))
    if (!line.empty()) lines.push_back(Json::parse(line));
  return lines;
}

TEST(Conversations, EachTurnHoldsTheServersOwnAnswers) {
  const PythonServer server;
  const LoadResult result = run_load(closed_loop(server, 2), talks_of({3, 1, 2}));
  ASSERT_EQ(result.records.size(), 6u);
  std::map<std::string, Json> asked;   // by the turn's own text
  for (const Json& line : log_of(server)) asked[line["body"]["messages"].back()["content"]] = line["body"]["messages"];
  ASSERT_EQ(asked.size(), 6u);
  const Json& last = asked["c0t2"];
  ASSERT_EQ(last.size(), 5u);
  EXPECT_EQ(last[0]["content"], "c0t0");
  EXPECT_EQ(last[1], (Json{{"role", "assistant"}, {"content", result.records[0].text}}));
  EXPECT_EQ(last[3], (Json{{"role", "assistant"}, {"content", result.records[1].text}}));
  EXPECT_EQ(asked["c1t0"].size(), 1u);
  EXPECT_EQ(asked["c2t1"].size(), 3u);
  for (const RequestRecord& r : result.records) EXPECT_EQ(r.turn, (std::vector<int>{1, 2, 3, 0, 1, 2})[static_cast<size_t>(r.id)]);
  EXPECT_GT(result.summary.shared_prompt_share, 0.3);
}

TEST(Conversations, AClientThinksAndAsksNothingElseMeanwhile) {
  const PythonServer server({"--tokens-per-second", "100"});
  LoadSpec spec = closed_loop(server, 1);
  spec.keep_text = false;   // what was said is carried all the same
  const LoadResult result = run_load(spec, talks_of({2, 2}, 0.15));
  ASSERT_EQ(result.records.size(), 4u);
  for (const size_t turn : {1u, 3u}) {
    const RequestRecord &before = result.records[turn - 1], &after = result.records[turn];
    EXPECT_NEAR(after.intended_s, before.end_s + 0.15, 1e-9);
    EXPECT_GE(after.sent_s, after.intended_s);
    EXPECT_GE(after.ttft_s(), 0);
  }
  EXPECT_GE(result.records[2].intended_s, result.records[1].end_s);
  EXPECT_EQ(log_of(server)[1]["body"]["messages"].size(), 3u);
  EXPECT_NE(log_of(server)[1]["body"]["messages"][1]["content"], "");
}

TEST(Conversations, AnOpenLoopBoundsTurnsToo) {
  const PythonServer server({"--tokens-per-second", "100"});
  LoadSpec spec = closed_loop(server, 0);
  spec.traffic.kind = Traffic::Kind::Open;
  spec.traffic.arrival.max_in_flight = 2;
  const LoadResult result = run_load(spec, talks_of({2, 2, 2, 2}));
  ASSERT_EQ(result.records.size(), 8u);
  for (const RequestRecord& r : result.records) EXPECT_EQ(r.state, RequestState::Completed);
  int most = 0;
  for (const Json& line : log_of(server)) most = std::max(most, line["active"].get<int>());
  EXPECT_EQ(most, 2);
}

TEST(Conversations, BreakOffWhereATurnFails) {
  const PythonServer server({"--fail-first", "1"});
  const LoadResult result = run_load(closed_loop(server, 1), talks_of({3, 2}));
  ASSERT_EQ(result.records.size(), 3u);
  EXPECT_EQ(result.records[0].state, RequestState::Failed);
  EXPECT_EQ(result.records[1].id, 3);
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("2 turns were not asked")));
}

TEST(Conversations, ATurnThatIsCutOffIsCensoredAndItsLaterOnesAreNotSent) {
  const PythonServer server({"--stall-after", "2"});
  LoadSpec spec = closed_loop(server, 2);
  spec.time_limit_s = 1;
  const LoadResult result = run_load(spec, talks_of({2, 2, 2}));
  ASSERT_EQ(result.records.size(), 2u);
  for (const RequestRecord& r : result.records) EXPECT_EQ(r.state, RequestState::CutOff);
  EXPECT_TRUE(result.summary.censored);
  EXPECT_EQ(result.summary.failed, 0);
}

TEST(Conversations, TheWindowOfAnOpenLoopOpensWithAConversation) {
  const PythonServer server;
  LoadSpec spec = closed_loop(server, 0);
  spec.traffic.kind = Traffic::Kind::Open;
  RequestTrace trace = talks_of({2, 2, 2});
  trace.requests[2].at_s = 0.05;
  trace.requests[4].at_s = 0.1;
  spec.warmup_requests = 1;
  LoadResult result = run_load(spec, trace);
  EXPECT_NEAR(result.window_start_s - result.records[0].intended_s, 0.05, 1e-9);
  spec.warmup_requests = 5;   // no conversation begins after that
  result = run_load(spec, trace);
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("too short")));
}

}  // namespace
}  // namespace hyperloom

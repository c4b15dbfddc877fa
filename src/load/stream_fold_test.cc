#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "load/request_record.h"

namespace hyperloom {
namespace {

namespace fs = std::filesystem;

constexpr double kBase = 1000;   // a record says 0 for "never", so a case's time 0 lies elsewhere

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> stream_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(HYPERLOOM_CASES)) {
    const std::string name = entry.path().filename().string();
    const bool a_or_b = name[0] == 'a' || name[0] == 'b';
    if (a_or_b && entry.path().extension() == ".sse") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

RequestRecord replay(const std::string& bytes, const Json& segments) {
  RequestRecord record;
  record.intended_s = record.sent_s = kBase + segments.at("request_sent_ms").get<double>() / 1e3;
  StreamFold fold(record, true);
  size_t from = 0;
  double now = kBase;
  for (const Json& segment : segments.at("segments_end_offset_and_arrival_ms")) {
    const size_t to = segment[0].get<size_t>();
    now = kBase + segment[1].get<double>() / 1e3;
    if (to > from) fold.on_bytes(std::string_view(bytes).substr(from, to - from), now);
    from = to;
  }
  EXPECT_EQ(from, bytes.size());
  const bool clean = segments.at("close") == "clean";
  fold.on_end(segments.at("http_status").get<int>(), clean ? "" : "connection reset by peer", now);
  return record;
}

class StreamCase : public testing::TestWithParam<std::string> {};

TEST_P(StreamCase, GivesTheRightAnswer) {
  const fs::path stem = fs::path(HYPERLOOM_CASES) / GetParam();
  const Json expect = Json::parse(read(stem.string() + ".expect.json"));
  const RequestRecord r =
      replay(read(stem.string() + ".sse"), Json::parse(read(stem.string() + ".segments.json")));
  auto ms = [](double seconds) { return seconds < 0 ? Json(nullptr) : Json(seconds * 1e3); };
  auto since = [&](double at) { return at == 0 ? Json(nullptr) : Json((at - r.intended_s) * 1e3); };
  auto same = [&](const char* name, const Json& got) {
    if (!expect.contains(name)) return;
    const Json& want = expect.at(name);
    if (want.is_number() && got.is_number()) {
      EXPECT_NEAR(got.get<double>(), want.get<double>(), 1e-3) << name;
    } else {
      EXPECT_EQ(got, want) << name;
    }
  };
  auto word = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  same("ok", r.state == RequestState::Completed);
  same("text", r.text);
  same("reasoning", r.reasoning);
  same("ttft_ms", ms(r.ttft_s()));
  same("ttfo_ms", since(r.first_answer_s));
  same("last_token_ms", since(r.last_token_s));
  same("tpot_ms", ms(r.tpot_s()));
  same("out_tokens", r.output_tokens < 0 ? Json(nullptr) : Json(r.output_tokens));
  same("token_chunks", r.counted_chunks);
  same("finish", word(r.finish_reason));
  same("done", r.ended_by_done);
  same("fail_kind", word(r.fail_kind));
  if (expect.contains("must_not_contain")) {
    EXPECT_EQ(r.text.find(expect["must_not_contain"].get<std::string>()), std::string::npos);
  }
  if (expect.contains("itl_ms")) {
    const std::vector<double> gaps = r.itl_s();
    ASSERT_EQ(gaps.size(), expect["itl_ms"].size());
    for (size_t i = 0; i < gaps.size(); ++i) {
      EXPECT_NEAR(gaps[i] * 1e3, expect["itl_ms"][i].get<double>(), 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Public, StreamCase, testing::ValuesIn(stream_cases()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(StreamCases, AreAllThere) { EXPECT_GE(stream_cases().size(), 12u); }

RequestRecord fold_all(const std::string& bytes, int status = 200, const std::string& error = "",
                       bool chat = true) {
  RequestRecord record;
  record.intended_s = record.sent_s = kBase;
  StreamFold fold(record, chat);
  if (!bytes.empty()) fold.on_bytes(bytes, kBase + 1);
  fold.on_end(status, error, kBase + 2);
  return record;
}

TEST(StreamFold, EverySplitGivesTheSameRecord) {
  const std::string bytes = read(fs::path(HYPERLOOM_CASES) / "a02-utf8-split.sse");
  const Json whole = to_json_value(fold_all(bytes));
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    RequestRecord r;
    r.intended_s = r.sent_s = kBase;
    StreamFold fold(r, true);
    fold.on_bytes(bytes.substr(0, cut), kBase + 1);
    fold.on_bytes(bytes.substr(cut), kBase + 1);
    fold.on_end(200, "", kBase + 2);
    EXPECT_EQ(to_json_value(r), whole) << cut;
  }
}

TEST(StreamFold, CompletionsStream) {
  const RequestRecord r = fold_all(
      "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":null}]}\n\n"
      "data: {\"choices\":[{\"text\":\"b\",\"finish_reason\":\"length\"}],"
      "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n", 200, "", false);
  EXPECT_EQ(r.state, RequestState::Completed);
  EXPECT_EQ(r.text, "ab");
  EXPECT_EQ(r.prompt_tokens, 3);
  EXPECT_EQ(r.tokens(), 2);
}

TEST(StreamFold, UsageAtTheEndIsSharedOutOverTheEvents) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += "data: {\"choices\":[{\"delta\":{\"content\":\"x y z\"}}]}\n\n";
  bytes += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
           "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":12}}\n\n";
  const RequestRecord r = fold_all(bytes);
  EXPECT_EQ(r.state, RequestState::Completed);
  EXPECT_EQ(r.counted_chunks, 4);
  std::vector<int> marks;
  for (const TokenMark& mark : r.marks) marks.push_back(mark.tokens);
  EXPECT_EQ(marks, (std::vector<int>{3, 6, 9, 12}));
}

TEST(StreamFold, ToolCallDeltasAreGeneratedText) {
  const RequestRecord r = fold_all(
      "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\"}}]}}]}\n\n"
      "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n"
      "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n");
  EXPECT_EQ(r.counted_chunks, 2);
  EXPECT_DOUBLE_EQ(r.ttft_s(), 1);
  EXPECT_GT(r.first_answer_s, 0);
}

TEST(StreamFold, APlainBodyHasAnEndButNoFirstToken) {
  const RequestRecord r = fold_all(
      "{\n \"choices\": [{\"message\": {\"content\": \"hi\"}, \"finish_reason\": \"stop\"}],\n"
      " \"usage\": {\"prompt_tokens\": 4, \"completion_tokens\": 9}\n}");
  EXPECT_EQ(r.state, RequestState::Completed);
  EXPECT_EQ(r.text, "hi");
  EXPECT_EQ(r.tokens(), 9);
  EXPECT_LT(r.ttft_s(), 0);
  EXPECT_LT(r.tpot_s(), 0);
  EXPECT_DOUBLE_EQ(r.e2e_s(), 2);
  EXPECT_FALSE(to_json_value(r).contains("ttft_ms"));
}

struct Failure {
  const char* what;
  std::string bytes;
  int status;
  std::string transport;
  std::string kind, text_part;
};

TEST(StreamFold, FailuresAreNamed) {
  const std::string token = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
  const Failure failures[] = {
      {"http status with an OpenAI body", "{\"error\":{\"message\":\"too long\"}}", 400, "", "http_400", "too long"},
      {"http status with a FastAPI body", "{\"detail\":\"gone\"}", 404, "", "http_404", "gone"},
      {"http status with a page", "<h1>Bad gateway</h1>", 502, "", "http_502", "Bad gateway"},
      {"refused", "", 0, "connection refused", "transport", "refused"},
      {"reset in the middle", token, 200, "reset by peer", "transport", "reset"},
      {"error in a plain 200", "{\"error\":\"no slot\"}", 200, "", "error_event_in_stream", "no slot"},
      {"older vLLM error object", token + "data: {\"object\":\"error\",\"message\":\"boom\"}\n\n", 200, "",
       "error_event_in_stream", "boom"},
      {"SSE error event", "event: error\ndata: broken\n\n", 200, "", "error_event_in_stream", "broken"},
      {"older llama.cpp error field", token + "error: {\"message\":\"kv full\"}\n\n", 200, "",
       "error_event_in_stream", "kv full"},
      {"garbage event", token + "data: {\"choi\n\ndata: [DONE]\n\n", 200, "", "malformed_event", "choi"},
      {"cut inside an event", token + "data: {\"choi", 200, "", "ended_without_finish", ""},
      {"only the end mark", "data: [DONE]\n\n", 200, "", "no_events", ""},
      {"metadata only", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n", 200, "", "ended_without_finish", ""},
      {"a web page", "<html>login</html>", 200, "", "no_events", "login"},
  };
  for (const Failure& f : failures) {
    const RequestRecord r = fold_all(f.bytes, f.status, f.transport);
    EXPECT_EQ(r.state, RequestState::Failed) << f.what;
    EXPECT_EQ(r.fail_kind, f.kind) << f.what;
    EXPECT_THAT(r.fail_text, testing::HasSubstr(f.text_part)) << f.what;
  }
}

TEST(StreamFold, ARudeCloseAfterDoneChangesNothing) {
  const RequestRecord r = fold_all(
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", 200,
      "reset by peer");
  EXPECT_EQ(r.state, RequestState::Completed);
}

TEST(StreamFold, OddShapesDoNoHarm) {
  for (const char* data :
       {"[]", "3", "null", "{\"choices\":3}", "{\"choices\":[3,null,{}]}", "{\"choices\":[{\"delta\":3}]}",
        "{\"choices\":[{\"delta\":{\"content\":7,\"tool_calls\":[{\"function\":null}]}}],\"usage\":[]}",
        "{\"usage\":{\"prompt_tokens\":-4,\"completion_tokens\":1e300}}"}) {
    const RequestRecord r = fold_all(std::string("data: ") + data + "\n\n");
    EXPECT_EQ(r.state, RequestState::Failed) << data;
    EXPECT_EQ(r.tokens(), 0) << data;
    EXPECT_EQ(r.prompt_tokens, -1) << data;
  }
}

// Comparing or printing such a value would recurse as deep as it is nested.
TEST(StreamFold, DeepNestingIsAMalformedEventNotACrash) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  const std::string text = "\"choices\":[{\"delta\":{\"content\":\"a\"}}]";
  for (const std::string& data : {"{\"error\":" + deep + "}", "{" + text + ",\"x\":" + deep + "}", deep}) {
    const RequestRecord r = fold_all("data: " + data + "\n\n");
    EXPECT_EQ(r.state, RequestState::Failed);
    EXPECT_EQ(r.fail_kind, "malformed_event");
    EXPECT_LE(r.fail_text.size(), 2000u);
  }
  EXPECT_EQ(fold_all("{\"error\":" + deep + "}", 500).fail_kind, "http_500");
  EXPECT_EQ(fold_all("{\"error\":" + deep + "}").fail_kind, "no_events");
  const std::string brackets = "{\"choices\":[{\"delta\":{\"content\":\"" + std::string(1000, '[') + "\"},\"finish_reason\":\"stop\"}]}";
  EXPECT_EQ(fold_all("data: " + brackets + "\n\n").state, RequestState::Completed);   // in a text they nest nothing
}

TEST(StreamFold, TokenCountsThatCannotBeAreOddAndNotBelieved) {
  const std::string token = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"completion_tokens\":";
  const std::string end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":";
  const auto folded = [&](const std::string& first, const std::string& last) {
    return fold_all(token + first + "}}\n\n" + token + first + "}}\n\n" + end + last + "}}\n\ndata: [DONE]\n\n");
  };
  for (const char* last : {"1", "-3", "1e300", "99999999999999999999", "-1e-300", "10000001"}) {
    const RequestRecord r = folded("2", last);
    EXPECT_EQ(r.state, RequestState::Completed) << last;
    EXPECT_TRUE(r.odd_usage) << last;
    EXPECT_GE(r.tokens(), 1) << last;
    EXPECT_LE(r.tokens(), 2) << last;
    for (const TokenMark& mark : r.marks) EXPECT_LE(mark.tokens, 2) << last;
  }
  EXPECT_FALSE(folded("1", "2").odd_usage);
  EXPECT_FALSE(folded("1", "null").odd_usage);          // not said is not odd
  EXPECT_FALSE(folded("\"1\"", "\"2\"").odd_usage);
}

TEST(RequestRecord, TpotIsAbsentBelowTwoTokens) {
  RequestRecord r;
  r.first_token_s = r.last_token_s = kBase;
  r.output_tokens = 1;
  EXPECT_LT(r.tpot_s(), 0);
  EXPECT_TRUE(r.itl_s().empty());
}

TEST(RequestRecord, WaitOfAnEventWithoutATokenGoesToTheNext) {
  RequestRecord r;
  r.marks = {{1, 1}, {2, 1}, {4, 2}};
  EXPECT_EQ(r.itl_s(), std::vector<double>{3});
}

}  // namespace
}  // namespace hyperloom

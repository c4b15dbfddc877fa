// The files by what other programs read from them: plain data in, no server.
#include "load/result_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kBase = 1000;

// Sent at kBase + start; `tokens` tokens from 0.1 s on, 0.01 s apart.
RequestRecord answered(int id, double start, int tokens) {
  RequestRecord r;
  r.id = id;
  r.intended_s = kBase + start;
  r.sent_s = r.intended_s + 0.002;
  for (int i = 0; i < tokens; ++i) r.marks.push_back({r.sent_s + 0.1 + 0.01 * i, i + 1});
  r.first_token_s = r.marks.front().at_s;
  r.last_token_s = r.end_s = r.marks.back().at_s;
  r.prompt_tokens = 7;
  r.output_tokens = r.counted_chunks = tokens;
  r.state = RequestState::Completed;
  r.finish_reason = "length";
  r.text = "text " + std::to_string(id);
  return r;
}

LoadResult load_of(std::vector<RequestRecord> records, const std::vector<Limit>& limits) {
  LoadResult result;
  result.window_start_s = kBase;
  result.window_end_s = kBase + 10;
  result.summary = summarise(records, result.window_start_s, result.window_end_s, limits);
  result.records = std::move(records);
  return result;
}

LoadResult three_and_a_failure(const std::vector<Limit>& limits = {}) {
  RequestRecord failed;
  failed.id = 3;
  failed.intended_s = failed.sent_s = kBase + 4;
  failed.end_s = kBase + 4.5;
  failed.state = RequestState::Failed;
  failed.fail_kind = "http_500";
  failed.fail_text = "no slot";
  return load_of({answered(0, 0, 11), answered(1, 0.05, 11), answered(2, 2, 21), failed}, limits);
}

// Names and types of vllm/benchmarks/serve.py (main of 2026): what benchmark() returns and what is put before it.
TEST(VllmResult, HasEveryFieldInItsType) {
  LoadSpec spec;
  spec.model = "m";
  spec.traffic.clients = 2;
  spec.limits = {{"ttft", 99, 1e6}};
  const Json json = vllm_result(spec, three_and_a_failure(spec.limits), "openai", "2026-12-01T13:30:05.123Z");
  for (const char* name : {"date", "endpoint_type", "backend", "model_id", "tokenizer_id", "request_rate"})
    EXPECT_TRUE(json[name].is_string()) << name;
  for (const char* name : {"num_prompts", "completed", "failed", "total_input_tokens", "total_output_tokens", "max_concurrency", "max_concurrent_requests"})
    EXPECT_TRUE(json[name].is_number_integer()) << name;
  for (const char* name : {"burstiness", "duration", "request_throughput", "request_goodput", "output_throughput", "total_token_throughput",
                           "max_output_tokens_per_s", "rtfx"})
    EXPECT_TRUE(json[name].is_number_float()) << name;
  for (const std::string metric : {"ttft", "tpot", "itl", "e2el"})
    for (const std::string figure : {"mean", "median", "std", "p50", "p90", "p95", "p99"})
      EXPECT_TRUE(json[figure + "_" + metric + "_ms"].is_number_float()) << figure << metric;
  for (const char* name : {"input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "queue_times", "generated_texts", "errors"}) {
    EXPECT_TRUE(json[name].is_array()) << name;
    EXPECT_EQ(json[name].size(), 4u) << name;          // one a request, those that failed too
  }
  EXPECT_TRUE(json["label"].is_null());
  EXPECT_EQ(Json::parse(json.dump()), json);
}

TEST(VllmResult, HasTheirValues) {
  LoadSpec spec;
  spec.traffic.clients = 2;
  const Json json = vllm_result(spec, three_and_a_failure(), "openai", "2026-12-01T13:30:05.123Z");
  EXPECT_EQ(json["date"], "20261201-133005");
  EXPECT_EQ(json["num_prompts"], 4);
  EXPECT_EQ(json["completed"], 3);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["request_rate"], "inf");
  EXPECT_EQ(json["max_concurrency"], 2);
  EXPECT_TRUE(json["request_goodput"].is_null());
  EXPECT_EQ(json["output_lens"], Json({11, 11, 21, 0}));
  EXPECT_EQ(json["itls"][0].size(), 10u);
  EXPECT_EQ(json["itls"][3], Json::array());
  EXPECT_EQ(json["errors"], Json({"", "", "", "http_500: no slot"}));
  EXPECT_EQ(json["generated_texts"][2], "text 2");
  EXPECT_NEAR(json["median_ttft_ms"], 102, 1e-6);
  EXPECT_NEAR(json["mean_tpot_ms"], 10, 1e-6);
  EXPECT_NEAR(json["queue_times"][0], 0.002, 1e-9);
  EXPECT_EQ(json["max_concurrent_requests"], 2);
  EXPECT_EQ(json["max_output_tokens_per_s"], 22);      // of the first two, within the first second
  EXPECT_NEAR(json["total_output_tokens"].get<double>() / json["duration"].get<double>(), json["output_throughput"], 0.11);
}

TEST(VllmResult, OfAnOpenLoopAndOfNothing) {
  LoadSpec spec;
  spec.traffic.kind = Traffic::Kind::Open;
  spec.traffic.rate_rps = 2.5;
  const Json open = vllm_result(spec, three_and_a_failure(), "openai", "2026-12-01T13:30:05Z");
  EXPECT_EQ(open["request_rate"], 2.5);
  EXPECT_TRUE(open["max_concurrency"].is_null());
  const Json nothing = vllm_result(spec, load_of({}, {}), "openai", "2026-12-01T13:30:05Z");
  EXPECT_EQ(nothing["completed"], 0);
  EXPECT_EQ(nothing["mean_ttft_ms"], 0);               // as theirs: never NaN, which is no JSON
  EXPECT_EQ(nothing["max_concurrent_requests"], 0);
}

TEST(ResultFiles, OneJsonLineARequest) {
  const std::vector<std::string> lines = split(records_jsonl(three_and_a_failure().records), '\n');
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[4], "");
  const Json first = Json::parse(lines[0]), failed = Json::parse(lines[3]);
  EXPECT_EQ(first["state"], "completed");
  EXPECT_NEAR(first["ttft_ms"], 102, 1e-6);
  EXPECT_EQ(first["marks"].size(), 11u);
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_EQ(failed["fail_kind"], "http_500");
  EXPECT_FALSE(failed.contains("ttft_ms"));            // absent, never 0
}

TEST(ResultFiles, TablesForTerminalAndMarkdown) {
  LoadSummary s = three_and_a_failure().summary;
  s.warnings = {"too short: by far"};
  for (const std::string& text : {terminal_table(s), markdown_table(s)}) {
    EXPECT_THAT(text, HasSubstr("3 completed, 1 failed"));
    EXPECT_THAT(text, HasSubstr("1 x http_500"));
    EXPECT_THAT(text, HasSubstr("warning: too short: by far"));
  }
  EXPECT_THAT(markdown_table(s), HasSubstr("| TTFT | 102.00 | 102.00 |"));
  EXPECT_THAT(terminal_table(s), Not(HasSubstr("unread bytes")));
  s.read_wait_ms = {.mean = 0.1, .p50 = 0.1, .p90 = 0.2, .p95 = 0.2, .p99 = 0.5, .count = 9};
  EXPECT_THAT(terminal_table(s), HasSubstr("unread bytes"));
}

}  // namespace
}  // namespace hyperloom

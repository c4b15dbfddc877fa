#include "workload/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "workload/line_reader.h"
#include "workload/workload.h"

namespace hyperloom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kMooncake[] =
    "{\"timestamp\": 1000, \"input_length\": 655, \"output_length\": 52, \"hash_ids\": [46, 47]}\n"
    "{\"timestamp\": 1000, \"input_length\": 1, \"output_length\": 0}\r\n"
    "\n"
    "{\"timestamp\": 4052, \"input_length\": 1024, \"output_length\": 26, \"hash_ids\": [46, 2305843009213693952], \"more\": []}";
constexpr char kAzure[] =
    "\xEF\xBB\xBFTIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    "2023-11-16 23:59:59.9805900,4808,10\r\n"
    "2023-11-17 00:00:01.0000000,110,27\r\n";

std::vector<TraceEntry> entries_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<TraceEntry> entries;
  read_trace(in, "t", [&](TraceEntry& entry) {
    entries.push_back(std::move(entry));
    return true;
  });
  return entries;
}

TEST(TraceFile, ReadsTheFormOfTheMooncakeTraces) {
  const std::vector<TraceEntry> entries = entries_of(kMooncake);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].at_s, 0);
  EXPECT_EQ(entries[0].prompt_tokens, 655);
  EXPECT_EQ(entries[0].output_tokens, 52);
  EXPECT_THAT(entries[0].hash_ids, ElementsAre(46, 47));
  EXPECT_EQ(entries[1].at_s, 0);
  EXPECT_EQ(entries[1].output_tokens, 1) << "no server answers with nothing";
  EXPECT_TRUE(entries[1].hash_ids.empty());
  EXPECT_NEAR(entries[2].at_s, 3.052, 1e-12);
  EXPECT_THAT(entries[2].hash_ids, ElementsAre(46, uint64_t{1} << 61));
}

TEST(TraceFile, ReadsTheFormOfTheAzureTraces) {
  const std::vector<TraceEntry> entries = entries_of(kAzure);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].prompt_tokens, 4808);
  EXPECT_EQ(entries[1].output_tokens, 27);
  EXPECT_NEAR(entries[1].at_s, 1.01941, 1e-6);
  const std::vector<TraceEntry> later = entries_of(
      "a,\"GeneratedTokens\", ContextTokens,TIMESTAMP\n"
      "x,1,2,2024-02-28 23:30:00.5+00:00\n"
      "x,1,2,2024-02-29T01:00:01Z\n"
      "x,1,2,2024-02-29 03:00:02+02:00\n"
      "x,1,2,2024-03-01 00:00:00\n");
  ASSERT_EQ(later.size(), 4u);
  EXPECT_DOUBLE_EQ(later[1].at_s, 5400.5);
  EXPECT_DOUBLE_EQ(later[2].at_s, 5401.5);
  EXPECT_DOUBLE_EQ(later[3].at_s, 86400 + 1799.5) << "2024 has a 29th of February";
  EXPECT_DOUBLE_EQ(entries_of("TIMESTAMP,ContextTokens,GeneratedTokens\n7.5,1,1\n9,1,1\n")[1].at_s, 1.5);
}

TEST(TraceFile, ReadingStopsWhereItIsToldTo) {
  std::istringstream in(std::string(kMooncake) + "\nnot read any more");
  int seen = 0;
  read_trace(in, "t", [&](TraceEntry&) { return ++seen < 3; });
  EXPECT_EQ(seen, 3);
}

struct Bad { const char *text, *where, *says; };

TEST(TraceFile, Refusals) {
  const std::string good = R"({"timestamp": 5, "input_length": 600, "output_length": 2, "hash_ids": [1]})";
  const std::string columns = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  const auto refused = [](const std::string& text, const std::string& where, const std::string& says) {
    SCOPED_TRACE(text);
    try {
      entries_of(text);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_THAT(error.what(), StartsWith(where));
      EXPECT_THAT(error.what() + ("\n" + error.mend()), HasSubstr(says));
      EXPECT_NE(error.mend(), "");
    }
  };
  refused("", "trace t is empty", "TIMESTAMP,ContextTokens");
  refused("\n \n", "trace t is empty", "JSON lines");
  refused("hello\n", "t:1 (byte 0)", "no column TIMESTAMP");
  refused(columns, "trace t names its columns", "no entry");
  for (const Bad& bad : std::initializer_list<Bad>{{"{\"timestamp\": 6,", "t:2 (byte 75)", "cut short"},
                                                   {"{\"timestamp\": 6,\n", "t:2 (byte 75)", "is no JSON"},
                                                   {"[1]\n", "t:2 (byte 75)", "no JSON object"},
                                                   {"\n{}\n", "t:3 (byte 76)", "no \"timestamp\""},
                                                   {R"({"timestamp": "6"})", "t:2", "\"timestamp\" is no number"},
                                                   {R"({"timestamp": 4, "input_length": 1, "output_length": 1})", "t:2", "sort the entries"},
                                                   {R"({"timestamp": 1e300, "input_length": 1, "output_length": 1})", "t:2", "centuries"},
                                                   {R"({"timestamp": 6, "input_length": 0, "output_length": 1})", "t:2", "\"input_length\" is 0"},
                                                   {R"({"timestamp": 6, "input_length": 1.5, "output_length": 1})", "t:2", "whole number"},
                                                   {R"({"timestamp": 6, "input_length": 1, "output_length": -1})", "t:2", "from 0 to"},
                                                   {R"({"timestamp": 6, "input_length": 1e9, "output_length": 1})", "t:2", "10 million"},
                                                   {R"({"timestamp": 6, "input_length": 512, "output_length": 1, "hash_ids": [1, 2]})", "t:2", "at most 1 here"},
                                                   {R"({"timestamp": 6, "input_length": 5, "output_length": 1, "hash_ids": [-1]})", "t:2", "from 0 on"},
                                                   {R"({"timestamp": 6, "input_length": 5, "output_length": 1, "hash_ids": 1})", "t:2", "no list"}})
    refused(good + "\n" + bad.text, bad.where, bad.says);
  for (const Bad& bad : std::initializer_list<Bad>{{"2023-11-16 18:15:46,1", "t:2 (byte 40)", "2 cells"},
                                                   {"2023-13-16 18:15:46,1,1\n", "t:2 (byte 40)", "2023-13-16"},
                                                   {"2023-02-29 18:15:46,1,1\n", "t:2", "TIMESTAMP is"},
                                                   {"2023-11-16 24:15:46,1,1\n", "t:2", "TIMESTAMP is"},
                                                   {"2023-11-16 18:15:46.,1,1\n", "t:2", "TIMESTAMP is"},
                                                   {"2023-11-16 18:15:46+1,1,1\n", "t:2", "TIMESTAMP is"},
                                                   {"nan,1,1\n", "t:2", "TIMESTAMP is"},
                                                   {"1,x,1\n", "t:2", "ContextTokens is `x`"},
                                                   {"1,1,-3\n", "t:2", "\"GeneratedTokens\" is -3"},
                                                   {"2,1,1\n1,1,1\n", "t:3 (byte 46)", "sort"}})
    refused(columns + bad.text, bad.where, bad.says);
  refused(columns + std::string("1,1,1\0", 6), "t:2", "NUL");
  refused(std::string(LineReader::kLongest + 1, '{'), "t:1", "longer than 8");
}

TEST(TraceFile, MemoryIsOneLine) {
  // 64 MB of lines, made as they are read.
  struct Endless : std::streambuf {
    std::string line = R"({"timestamp": 5, "input_length": 600, "output_length": 2, "hash_ids": [1]})" "\n";
    size_t lines = 64'000'000 / 75;
    int underflow() override {
      if (lines-- == 0) return traits_type::eof();
      setg(line.data(), line.data(), line.data() + line.size());
      return traits_type::to_int_type(line[0]);
    }
  } endless;
  std::istream in(&endless);
  LineReader reader(in, "t");
  std::string_view line;
  size_t bytes = 0, most = 0;
  while (reader.next(line)) bytes += line.size(), most = std::max(most, reader.held_bytes());
  EXPECT_GT(bytes, 60'000'000u);
  EXPECT_LT(most, 70'000u);
}

class TraceWorkload : public testing::Test {
 protected:
  Workload workload(const std::string& traffic, const std::string& more = "") {
    write_file(folder_.path() / "m.jsonl", kMooncake);
    return parse_workload("schema: 1\nmodel: {path: m.gguf}\ntraffic: {kind: trace, " + traffic + "}\nbudget: {time_s: 25m}\n" + more,
                          folder_.path() / "w.yaml");
  }
  TempDir folder_;
};

TEST_F(TraceWorkload, TakesItsFactsFromTheFile) {
  const Traffic t = workload("trace: m.jsonl, speed: 2, arrival: {max_in_flight: 3}").traffic;
  EXPECT_EQ(t.kind, Traffic::Kind::Trace);
  EXPECT_EQ(t.trace, (folder_.path() / "m.jsonl").string());
  EXPECT_EQ(t.trace_sha256, sha256_hex(kMooncake));
  EXPECT_EQ(t.trace_entries, 3);
  EXPECT_EQ(t.longest_tokens, 1050);
  EXPECT_NEAR(t.prompt_tokens.mean, 560, 1e-9);
  EXPECT_NEAR(t.output_tokens.mean, 79 / 3.0, 1e-9);
  EXPECT_NEAR(t.rate_rps, 2 / 3.052 * 2, 1e-9);
  EXPECT_EQ(t.arrival.max_in_flight, 3);
  EXPECT_THAT(arrival_text(t), HasSubstr("m.jsonl at speed 2 (3 entries, 1.31 requests/s), at most 3 in flight"));
}

TEST_F(TraceWorkload, ItsIdentityIsTheContentOfTheFileAndTheSpeed) {
  const Workload w = workload("trace: m.jsonl");
  write_file(folder_.path() / "moved.jsonl", kMooncake);
  write_file(folder_.path() / "other.jsonl", replace_all(kMooncake, "655", "656"));
  EXPECT_EQ(workload("trace: moved.jsonl").canonical(), w.canonical());
  EXPECT_NE(workload("trace: other.jsonl").canonical(), w.canonical());
  EXPECT_NE(workload("trace: m.jsonl, speed: 3").canonical(), w.canonical());
  EXPECT_THAT(w.canonical(), HasSubstr(sha256_hex(kMooncake)));
  for (const Workload& again : {parse_workload(write_workload(w), w.file), workload_from_json(Json::parse(to_json_value(w).dump()))}) {
    EXPECT_EQ(again.canonical(), w.canonical());
    EXPECT_EQ(again.traffic.trace, w.traffic.trace);
  }
}

TEST_F(TraceWorkload, AChangedFileIsNotReplayed) {
  const Traffic t = workload("trace: m.jsonl").traffic;
  EXPECT_EQ(read_trace_file(t.trace, t.trace_sha256, 2).size(), 2u);
  write_file(t.trace, std::string(kMooncake) + "\n");
  try {
    read_trace_file(t.trace, t.trace_sha256, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not the file that it was"));
  }
}

TEST_F(TraceWorkload, Refusals) {
  const auto problem = [&](const std::string& traffic) -> std::string {
    try {
      workload(traffic);
    } catch (const Error& error) {
      return error.what() + ("\n" + error.mend());
    }
    return "accepted";
  };
  const std::string here = (folder_.path() / "w.yaml").string() + ":3: traffic.";
  EXPECT_THAT(problem("seed: 1"), StartsWith(here + "trace: is missing"));
  EXPECT_THAT(problem("trace: none"), StartsWith(here + "trace: there is no "));
  EXPECT_THAT(problem("trace: w.yaml"), StartsWith(here + "trace: there is no "));
  EXPECT_THAT(problem("trace: m.jsonl, speed: 0"), StartsWith(here + "speed: 0 is too small"));
  EXPECT_THAT(problem("trace: m.jsonl, clients: 3"), StartsWith(here + "clients: stands beside a trace"));
  EXPECT_THAT(problem("trace: m.jsonl, rate_rps: 3"), HasSubstr("speed: 2"));
  EXPECT_THAT(problem("trace: m.jsonl, output_tokens: 3"), StartsWith(here + "output_tokens: stands beside"));
  EXPECT_THAT(problem("trace: m.jsonl, arrival: {burstiness: 3}"), StartsWith(here + "arrival.burstiness: unknown key"));
  write_file(folder_.path() / "bad.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n1,2,x\n");
  EXPECT_THAT(problem("trace: bad.csv"), StartsWith(here + "trace: " + (folder_.path() / "bad.csv").string() + ":2 (byte 40): GeneratedTokens is `x`"));
}

}  // namespace
}  // namespace hyperloom

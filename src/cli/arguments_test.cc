#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"

namespace hyperloom {
namespace {

using Words = std::vector<std::string>;

std::string problem_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_FALSE(error.mend().empty()) << error.what();
    return error.what();
  }
  return "";
}

TEST(SplitCommand, AsAShellWould) {
  EXPECT_EQ(split_command("  a  b\tc\n", "A"), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_command("'a b' \"c d\" e\\ f", "A"), (Words{"a b", "c d", "e f"}));
  EXPECT_EQ(split_command("x'y'\"z\"", "A"), (Words{"xyz"}));
  EXPECT_EQ(split_command("a '' \"\"", "A"), (Words{"a", "", ""}));
  EXPECT_EQ(split_command("'a\\b' \"a\\b\" \"a\\\"b\" a\\'b", "A"), (Words{"a\\b", "a\\b", "a\"b", "a'b"}));
  EXPECT_EQ(split_command("echo $HOME *.txt ~ | ; &", "A"), (Words{"echo", "$HOME", "*.txt", "~", "|", ";", "&"}));
}

TEST(SplitCommand, RefusesWhatAShellWouldWaitFor) {
  EXPECT_NE(problem_of([] { split_command("a 'b", "A"); }).find("open '"), std::string::npos);
  EXPECT_NE(problem_of([] { split_command("a \"b", "B"); }).find("of B has an open \""), std::string::npos);
  EXPECT_NE(problem_of([] { split_command("a \\", "A"); }).find("backslash"), std::string::npos);
  EXPECT_NE(problem_of([] { split_command("  ", "A"); }).find("empty"), std::string::npos);
}

TEST(LaunchWords, PortInBothSpellings) {
  EXPECT_EQ(launch_words("s --port {port}", "A"), (Words{"s", "--port", "${port}"}));
  EXPECT_EQ(launch_words("s --listen=0.0.0.0:${port}", "A"), (Words{"s", "--listen=0.0.0.0:${port}"}));
  EXPECT_NE(problem_of([] { launch_words("s --port 8080", "A"); }).find("no {port}"), std::string::npos);
}

TEST(Url, CheckedAndTrimmed) {
  EXPECT_EQ(checked_url("http://h:1/v1//", "--url"), "http://h:1/v1");
  for (const char* bad : {"", "localhost:8080", "http://", "http:///x", "ftp://h", "http://h o"})
    EXPECT_NE(problem_of([&] { checked_url(bad, "--url"); }).find("--url"), std::string::npos) << bad;
}

TEST(SweepFlag, ReadsAndRefuses) {
  EXPECT_FALSE(parse_sweep("clients").by_rate);
  EXPECT_TRUE(parse_sweep("clients").loads.empty());
  EXPECT_EQ(parse_sweep("rate:0.5,1,2.5").loads, (std::vector<double>{0.5, 1, 2.5}));
  EXPECT_TRUE(parse_sweep("rate:1").by_rate);
  for (const char* bad : {"", "client", "rates:1", "clients:", "clients:1,", "clients:2,1", "clients:1,1", "clients:1.5", "clients:0", "rate:-1",
                          "rate:nan", "rate:inf", "rate:1 2", "clients:1e9", ":1", "1,2"})
    EXPECT_NE(problem_of([&] { parse_sweep(bad); }).find("--sweep"), std::string::npos) << bad;
}

TEST(GoodputFlag, AsVllmHasIt) {
  EXPECT_EQ(goodput_limit("ttft:500"), "ttft:p99:500");
  EXPECT_EQ(goodput_limit("e2el:3000.5"), "e2e:p99:3000.5");
  for (const char* bad : {"", "ttft", "ttft:", "ttft:-1", "ttft:0", "ttft:p99:500", "ttft:5ms"})
    EXPECT_NE(problem_of([&] { goodput_limit(bad); }).find("--goodput"), std::string::npos) << bad;
  EXPECT_NE(problem_of([] { goodput_limit("e2e:500"); }).find("did you mean `e2el`"), std::string::npos);
}

TEST(HeaderFlag, InBothForms) {
  EXPECT_EQ(checked_header("X-Key: a:b=c"), "X-Key: a:b=c");
  EXPECT_EQ(checked_header("X-Key=a:b=c"), "X-Key: a:b=c");
  EXPECT_EQ(checked_header("X-Key:"), "X-Key: ");
  for (const char* bad : {"", "no-colon", ": x", "=x", "a b: c", "a: b\r\nInjected: c"})
    EXPECT_NE(problem_of([&] { checked_header(bad); }).find("--header"), std::string::npos) << bad;
}

TEST(SloFlag, ReadsAndRefuses) {
  EXPECT_EQ(slo_limits("ttft:p99<500ms,tpot:p90:40"), (Words{"ttft:p99<500ms", "tpot:p90:40"}));
  EXPECT_NE(problem_of([] { slo_limits("ttft:p99<500ms,"); }).find("--slo"), std::string::npos);
  EXPECT_NE(problem_of([] { slo_limits("ttft:p99<500ms,ttft:p99:400"); }).find("limit the same"), std::string::npos);
  EXPECT_EQ(slo_limits("ttft:p99<500ms,ttft:p50:400").size(), 2u);
}

TEST(LimitFlag, ReadsAndRefuses) {
  const Limit limit = parse_limit("ttft:p95:500.5");
  EXPECT_EQ(limit.metric, "ttft");
  EXPECT_EQ(limit.percentile, 95);
  EXPECT_EQ(limit.max_ms, 500.5);
  for (const char* bad : {"", "ttft", "ttft:95:500", "ttft:p95", "ttft:p94:5", "ttft:p95:", "ttft:p95:-1", "ttft:p95:0", "ttft:p95:5m",
                          "ttft:p95:nan", "ttft:p95:inf", "ttft:p95:5:6", "latency:p95:5", "ttft:p 95:5"})
    EXPECT_NE(problem_of([&] { parse_limit(bad); }), "") << bad;
  EXPECT_EQ(parse_limit("e2e:p99<30s").max_ms, 30000);
  EXPECT_EQ(parse_limit("e2e:p99<=30ms").max_ms, 30);
  EXPECT_NE(problem_of([] { parse_limit("ttft:p95<5min"); }), "");
  EXPECT_NE(problem_of([] { parse_limit("ttft:p95<s"); }), "");
  EXPECT_NE(problem_of([] { parse_limit("tftt:p95:5"); }).find("did you mean `ttft`"), std::string::npos);
}

}  // namespace
}  // namespace hyperloom

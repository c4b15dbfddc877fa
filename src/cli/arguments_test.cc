#include "cli/arguments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/files.h"

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

TEST(TrafficFlagsTest, ClosedOpenAndDataset) {
  TrafficFlags flags{.requests = 4, .prompt_tokens = 10, .output_tokens = 5};
  EXPECT_EQ(checked_traffic(flags).kind, Traffic::Kind::Closed);
  EXPECT_EQ(checked_traffic(flags).clients, 8);
  flags.rate_rps = 2;
  EXPECT_EQ(checked_traffic(flags).kind, Traffic::Kind::Open);
  flags.dataset = "x";
  flags.prompt_tokens = flags.output_tokens = 0;
  EXPECT_EQ(checked_traffic(flags).output_tokens.mean, 0);
}

TEST(TrafficFlagsTest, ArrivalsOfAnOpenLoop) {
  TrafficFlags flags{.rate_rps = 2, .requests = 4, .prompt_tokens = 10, .output_tokens = 5};
  EXPECT_EQ(checked_traffic(flags).arrival, Arrival{});
  flags.burstiness = 0.5;
  EXPECT_EQ(checked_traffic(flags).arrival, (Arrival{.process = Arrival::Process::Gamma, .burstiness = 0.5}));
  flags.burstiness = 1;
  flags.arrival = "constant";
  flags.clients_given = true;
  EXPECT_EQ(checked_traffic(flags).arrival, (Arrival{.process = Arrival::Process::Constant, .max_in_flight = 8}));
  EXPECT_EQ(checked_traffic(flags).clients, 0);
  flags.rate_rps = 0, flags.ramp_up = "exponential", flags.ramp_from_rps = 1, flags.ramp_to_rps = 9;
  const Traffic ramp = checked_traffic(flags);
  EXPECT_EQ(ramp.kind, Traffic::Kind::Open);
  EXPECT_EQ(ramp.rate_rps, 9);
  EXPECT_EQ(ramp.arrival.ramp_from_rps, 1);
  flags = {.sweeps_rates = true, .burstiness = 0.5, .requests = 4, .prompt_tokens = 10, .output_tokens = 5};
  EXPECT_EQ(checked_traffic(flags).arrival.burstiness, 0.5) << "the sweep's steps arrive so too";
}

TEST(TrafficFlagsTest, AReplay) {
  TempDir folder;
  const fs::path file = folder.path() / "t.csv";
  write_file(file, "TIMESTAMP,ContextTokens,GeneratedTokens\n1,5,6\n3,7,8\n");
  TrafficFlags flags{.clients_given = true, .trace = file.string(), .speed = 4, .seed = 9};
  const Traffic traffic = checked_traffic(flags);
  EXPECT_EQ(traffic.kind, Traffic::Kind::Trace);
  EXPECT_EQ(traffic.rate_rps, 2);
  EXPECT_EQ(traffic.arrival.max_in_flight, 8);
  EXPECT_EQ(traffic.seed, 9u);
  flags.burstiness = 2;
  EXPECT_NE(problem_of([&] { checked_traffic(flags); }).find("stand beside --trace"), std::string::npos);
  flags = {.trace = file.string(), .speed = 0};
  EXPECT_NE(problem_of([&] { checked_traffic(flags); }).find("--speed 0"), std::string::npos);
  flags = {.requests = 1, .prompt_tokens = 1, .output_tokens = 1, .speed = 2};
  flags.trace.clear();
  EXPECT_NE(problem_of([&] { checked_traffic(flags); }).find("--speed"), std::string::npos);
  write_file(file, "TIMESTAMP,ContextTokens,GeneratedTokens\n1,5,6\n3,7,x\n");
  flags = {.trace = file.string()};
  EXPECT_NE(problem_of([&] { checked_traffic(flags); }).find("--trace: " + file.string() + ":3 (byte 46)"), std::string::npos);
}

TEST(TrafficFlagsTest, Refusals) {
  const TrafficFlags good{.requests = 4, .prompt_tokens = 10, .output_tokens = 5};
  const auto refused = [&](const std::function<void(TrafficFlags&)>& spoil) {
    TrafficFlags flags = good;
    spoil(flags);
    return problem_of([&] { checked_traffic(flags); });
  };
  EXPECT_EQ(refused([](TrafficFlags&) {}), "");
  EXPECT_NE(refused([](TrafficFlags& f) { f.clients = 0; }).find("--clients 0"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.requests = 0; }).find("--requests 0"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.prompt_tokens = -1; }).find("--prompt-tokens"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.output_tokens = 0; }).find("--output-tokens"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.rate_rps = -1; }).find("--rate"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.rate_rps = HUGE_VAL; }).find("--rate inf"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.burstiness = 0.5; }).find("open loop"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.rate_rps = 1, f.burstiness = 0; }).find("--burstiness 0"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.rate_rps = 1, f.arrival = "constan"; }).find("did you mean `constant`"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.rate_rps = 1, f.arrival = "constant", f.burstiness = 2; }).find("--burstiness"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.rate_rps = 1, f.clients_given = true, f.clients = 0; }).find("--clients 0"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.ramp_from_rps = 1; }).find("--ramp-up-strategy"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.ramp_up = "step", f.ramp_from_rps = 1, f.ramp_to_rps = 2; }).find("`step`"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.ramp_up = "linear", f.ramp_from_rps = 2, f.ramp_to_rps = 2; }).find("from 2 to 2"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.ramp_up = "linear", f.ramp_to_rps = 2; }).find("from 0 to 2"), std::string::npos);
  EXPECT_NE(refused([](TrafficFlags& f) { f.api = "chats"; }).find("did you mean `chat`"), std::string::npos);
}

}  // namespace
}  // namespace hyperloom

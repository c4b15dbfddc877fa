#include "cli/traffic_flags.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/files.h"

namespace hyperloom {
namespace {

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

TEST(TrafficFlagsTest, Conversations) {
  TrafficFlags flags{.requests = 4, .prompt_tokens = 10, .output_tokens = 5};
  flags.turns = 4, flags.think_s = 1.5;
  EXPECT_EQ(checked_traffic(flags).turns.mean, 4);
  EXPECT_EQ(checked_traffic(flags).think_s.mean, 1.5);
  for (const double turns : {1.0, 2.5, -3.0, 1e6}) {
    flags.turns = turns;
    EXPECT_NE(problem_of([&] { checked_traffic(flags); }).find("--turns"), std::string::npos) << turns;
  }
  flags.turns = 0;
  EXPECT_NE(problem_of([&] { checked_traffic(flags); }).find("--think-time"), std::string::npos);
  flags.turns = 2, flags.think_s = -1;
  EXPECT_NE(problem_of([&] { checked_traffic(flags); }).find("--think-time -1"), std::string::npos);
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

#include "workload/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workload/workload.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Workload with_traffic(const std::string& traffic) {
  return parse_workload("schema: 1\nmodel: {path: m.gguf}\ntraffic: {" + traffic + "}\nbudget: {time_s: 25m}\n", "/somewhere/w.yaml");
}

constexpr char kLengths[] = ", prompt_tokens: 128, output_tokens: 64";

Traffic arriving(const std::string& how) { return with_traffic(how + kLengths).traffic; }

// Recipes and journals know a workload by these bytes: nothing may be added to what an older file says.
TEST(Traffic, TheCanonicalFormOfOlderWorkloadsStays) {
  EXPECT_THAT(with_traffic("clients: 4, prompt_tokens: {mean: 128, cv: 0.3}, output_tokens: 64").canonical(),
              testing::EndsWith(R"("traffic":{"api":"chat","clients":4,"ignore_eos":true,"kind":"closed",)"
                                R"("output_tokens":{"cv":0.0,"mean":64.0},"prompt_tokens":{"cv":0.3,"mean":128.0},)"
                                R"("seed":1,"shared_prefix_tokens":0}})"));
  const std::string poisson = with_traffic("kind: poisson, rate_rps: 2.5, prompt_tokens: 100, output_tokens: {mean: 100, cv: 0.5}, "
                                           "ignore_eos: no, shared_prefix_tokens: 32, api: completions, seed: 7").canonical();
  EXPECT_EQ(poisson,
            R"({"alpha":0.05,"budget":{"build_s":1800.0,"time_s":1500.0},"comparisons":20,"engine":{"argv":[],"env":{},)"
            R"("pack":"llama.cpp"},"machine":{},"model":{"path":"/somewhere/m.gguf"},"objective":{"least_gain":0.005,"limits":[],)"
            R"("maximize":"output_tok_s","per_gpu":false},"quality":{"kl_mean_max":0.02,"ppl_ratio_max":1.01,"top1_min":0.95},)"
            R"("schema":1,"touch":{"build":true,"env":true,"flags":true,"kernels":true,"precision":true,"source":true},)"
            R"("traffic":{"api":"completions","ignore_eos":false,"kind":"poisson","output_tokens":{"cv":0.5,"mean":100.0},)"
            R"("prompt_tokens":{"cv":0.0,"mean":100.0},"rate_rps":2.5,"seed":7,"shared_prefix_tokens":32}})");
}

TEST(Traffic, ArrivalsAsTheyAreWritten) {
  EXPECT_EQ(arriving("kind: open, rate_rps: 2").arrival, Arrival{});
  EXPECT_EQ(arriving("kind: open, rate_rps: 2, arrival: constant").arrival, (Arrival{.process = Arrival::Process::Constant}));
  EXPECT_EQ(arriving("kind: open, rate_rps: 2, arrival: {burstiness: 0.5}").arrival,
            (Arrival{.process = Arrival::Process::Gamma, .burstiness = 0.5}));
  EXPECT_EQ(arriving("kind: open, rate_rps: 8, arrival: {process: constant, ramp_up: exponential, ramp_from_rps: 1, max_in_flight: 9}").arrival,
            (Arrival{Arrival::Process::Constant, 1, "exponential", 1, 9}));
  EXPECT_EQ(arriving("kind: poisson, rate_rps: 8, arrival: {max_in_flight: 9}").arrival, (Arrival{.max_in_flight = 9}));
}

TEST(Traffic, TheSameArrivalsAreOneWorkload) {
  const auto id = [](const std::string& how) { return with_traffic(how + kLengths).canonical(); };
  const std::string poisson = id("kind: poisson, rate_rps: 2");
  EXPECT_EQ(id("kind: open, rate_rps: 2"), poisson);
  EXPECT_EQ(id("kind: open, rate_rps: 2, arrival: poisson"), poisson);
  EXPECT_EQ(id("kind: open, rate_rps: 2, arrival: {process: gamma, burstiness: 1}"), poisson);
  EXPECT_NE(id("kind: open, rate_rps: 2, arrival: constant"), poisson);
  EXPECT_NE(id("kind: open, rate_rps: 2, arrival: {burstiness: 2}"), id("kind: open, rate_rps: 2, arrival: {burstiness: 3}"));
  EXPECT_NE(id("kind: open, rate_rps: 2, arrival: {max_in_flight: 2}"), poisson);
}

TEST(Traffic, SurvivesBeingWrittenAndReadAgain) {
  for (const char* how : {"clients: 3", "kind: poisson, rate_rps: 0.25", "kind: open, rate_rps: 4, arrival: constant",
                          "kind: open, rate_rps: 4, arrival: {burstiness: 0.1, ramp_up: linear, ramp_from_rps: 0.5, max_in_flight: 7}",
                          "kind: poisson, rate_rps: 4, arrival: {ramp_up: exponential, ramp_from_rps: 0.5}",
                          "clients: 3, conversations: {turns: 3}", "kind: poisson, rate_rps: 1, conversations: {turns: {mean: 5, cv: 1}, think_s: {mean: 0.5, cv: 0.2}}"}) {
    const Workload w = with_traffic(std::string(how) + kLengths);
    EXPECT_EQ(parse_workload(write_workload(w), "/somewhere/w.yaml").canonical(), w.canonical()) << how;
    EXPECT_EQ(workload_from_json(Json::parse(to_json_value(w).dump())).canonical(), w.canonical()) << how;
  }
}

TEST(Traffic, SaysHowRequestsArrive) {
  EXPECT_EQ(arrival_text(arriving("clients: 1")), "1 client in a closed loop");
  EXPECT_EQ(arrival_text(arriving("clients: 4")), "4 clients in a closed loop");
  EXPECT_EQ(arrival_text(arriving("kind: poisson, rate_rps: 2.5")), "2.5 requests/s, Poisson arrivals");
  EXPECT_EQ(arrival_text(arriving("kind: open, rate_rps: 8, arrival: {burstiness: 0.5, ramp_up: linear, ramp_from_rps: 1, max_in_flight: 9}")),
            "1 rising to 8 requests/s (linear), gamma arrivals of burstiness 0.5, at most 9 in flight");
}

TEST(Traffic, Conversations) {
  const Traffic t = arriving("clients: 2, conversations: {turns: {mean: 4, cv: 0.5}, think_s: 2.5}");
  EXPECT_EQ(t.turns.mean, 4);
  EXPECT_EQ(t.turns.cv, 0.5);
  EXPECT_EQ(t.think_s.mean, 2.5);
  EXPECT_EQ(arrival_text(t), "2 clients in a closed loop, conversations of 4 turns with 2.5 s to think");
  EXPECT_NE(with_traffic(std::string("clients: 2, conversations: {turns: 4}") + kLengths).canonical(), with_traffic(std::string("clients: 2") + kLengths).canonical());
}

struct Bad { const char *traffic, *field, *says; };

TEST(Traffic, Refusals) {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"clients: 4, arrival: constant", "traffic.arrival", "does not go with kind: closed"},
           {"clients: 4, conversations: 4", "traffic.conversations", "must be a map"},
           {"clients: 4, conversations: {think_s: 1}", "traffic.conversations.turns", "is missing"},
           {"clients: 4, conversations: {turns: 1}", "traffic.conversations.turns", "no conversation"},
           {"clients: 4, conversations: {turns: 0}", "traffic.conversations.turns", "at least 1"},
           {"clients: 4, conversations: {turns: 1e6}", "traffic.conversations.turns", "at most 1000"},
           {"clients: 4, conversations: {turns: 4, think_s: -1}", "traffic.conversations.think_s", "at least 0"},
           {"clients: 4, conversations: {turns: 4, think: 1}", "traffic.conversations.think", "did you mean `think_s`"},
           {"kind: open", "traffic.rate_rps", "missing"},
           {"kind: open, rate_rps: 2, clients: 4", "traffic.clients", "max_in_flight"},
           {"kind: open, rate_rps: 2, arrival: bursts", "traffic.arrival", "one of: poisson, constant, gamma"},
           {"kind: open, rate_rps: 2, arrival: gamma", "traffic.arrival", "{process: gamma, burstiness: 0.5}"},
           {"kind: open, rate_rps: 2, arrival: {process: gamma}", "traffic.arrival.burstiness", "is missing"},
           {"kind: open, rate_rps: 2, arrival: {process: constant, burstiness: 2}", "traffic.arrival.burstiness", "only with process: gamma"},
           {"kind: poisson, rate_rps: 2, arrival: {burstiness: 2}", "traffic.arrival.process", "write kind: open"},
           {"kind: poisson, rate_rps: 2, arrival: constant", "traffic.arrival", "write kind: open"},
           {"kind: open, rate_rps: 2, arrival: {burstiness: 0}", "traffic.arrival.burstiness", "at least"},
           {"kind: open, rate_rps: 2, arrival: {burstiness: -1}", "traffic.arrival.burstiness", "at least"},
           {"kind: open, rate_rps: 2, arrival: {burstines: 2}", "traffic.arrival.burstines", "did you mean `burstiness`"},
           {"kind: open, rate_rps: 2, arrival: {ramp_up: linear}", "traffic.arrival.ramp_from_rps", "is missing"},
           {"kind: open, rate_rps: 2, arrival: {ramp_from_rps: 1}", "traffic.arrival.ramp_up", "is missing"},
           {"kind: open, rate_rps: 2, arrival: {ramp_up: step, ramp_from_rps: 1}", "traffic.arrival.ramp_up", "one of: linear, exponential"},
           {"kind: open, rate_rps: 2, arrival: {ramp_up: linear, ramp_from_rps: 0}", "traffic.arrival.ramp_from_rps", "above 0"},
           {"kind: open, rate_rps: 2, arrival: {ramp_up: linear, ramp_from_rps: 2}", "traffic.arrival.ramp_from_rps", "not below rate_rps"},
           {"kind: open, rate_rps: 2, arrival: {max_in_flight: 0}", "traffic.arrival.max_in_flight", "at least 1"},
           {"kind: open, rate_rps: 2, arrival: [constant]", "traffic.arrival", "must be a map"}}) {
    SCOPED_TRACE(bad.traffic);
    try {
      arriving(bad.traffic);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_THAT(error.what(), StartsWith(std::string("/somewhere/w.yaml:3: ") + bad.field + ":"));
      EXPECT_THAT(error.what() + ("\n" + error.mend()), HasSubstr(bad.says));
      EXPECT_NE(error.mend(), "");
    }
  }
}

}  // namespace
}  // namespace hyperloom

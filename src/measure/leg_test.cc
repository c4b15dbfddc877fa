// Whole legs against a small server that misbehaves (tests/fakes/fake_openai.py). What the machine's other work
// does to these legs is not asked: only reasons that the leg itself makes are looked at.
#include "measure/leg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "../../tests/fakes/canned_server.h"
#include "base/text.h"

namespace hyperloom {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPack = R"(schema: 1
name: fake
launch: {argv: [python3]}
stop: {signal: TERM, grace_s: 5}
ready: {health: /health, timeout_s: 60}
effective: {--slots: "GET /props#/total_slots"}
metrics: {path: /metrics, names: {output_tokens: "llamacpp:tokens_predicted_total"}}
knobs:
  - {name: --slots, kind: flag, type: int, values: [8], stock: probe}
)";

class Leg : public testing::Test {
 protected:
  Leg() {
    write_file(dir_.path() / "pack.yaml", kPack);
    pack_ = load_pack(dir_.path().string());
    order_.traffic.clients = 4;
    order_.traffic.prompt_tokens.mean = 12;
    order_.traffic.output_tokens.mean = 8;
    order_.measured_requests = 24;
    order_.warmup_requests = 4;
    order_.trace_seed = 7;
    order_.limits = {100, 100, 100, 1e9, 1e9};
    order_.drain = true;   // every answer, so that two legs can be told equal
  }
  // Python ignores what the shell told it to ignore.
  void launch(const std::vector<std::string>& flags, bool deaf = false) {
    order_.launch.argv = {"sh", "-c", std::string(deaf ? "trap '' TERM; " : "") + "exec \"$@\"", "sh", "python3",
                          HYPERLOOM_CASES "/../fakes/fake_openai.py", "--port", "${port}"};
    order_.launch.argv.insert(order_.launch.argv.end(), flags.begin(), flags.end());
  }
  LegOutcome run() { return run_leg(pack_, order_, dir_.path() / "log", hooks_); }
  LegResult result() {
    LegOutcome outcome = run();
    if (const Failure* failure = std::get_if<Failure>(&outcome)) {
      ADD_FAILURE() << failure->text();
      return {};
    }
    return std::get<LegResult>(outcome);
  }
  Failure failure() {
    LegOutcome outcome = run();
    if (std::holds_alternative<Failure>(outcome)) return std::get<Failure>(outcome);
    ADD_FAILURE() << Json(std::get<LegResult>(outcome)).dump();
    return {};
  }

  TempDir dir_;
  Pack pack_;
  LegOrder order_;
  LegHooks hooks_;
};

// Reasons that do not depend on how busy this machine is.
std::vector<std::string> own_reasons(const LegResult& leg) {
  std::vector<std::string> reasons;
  for (const std::string& reason : leg.void_reasons)
    if (!starts_with(reason, "our own lateness")) reasons.push_back(reason);
  return reasons;
}

TEST_F(Leg, GoodLegFillsEverything) {
  launch({});
  ProcessHandle handle;
  int port = 0;
  hooks_.on_started = [&](const ProcessHandle& h, int p) { handle = h, port = p; };
  const LegResult leg = result();
  EXPECT_THAT(own_reasons(leg), testing::IsEmpty());
  EXPECT_GT(handle.pid, 0);
  EXPECT_FALSE(port_listener(port).listening);
  EXPECT_GT(leg.value, 0);
  EXPECT_EQ(leg.value, leg.load.output_tok_s);
  EXPECT_EQ(leg.load.failed, 0);
  EXPECT_EQ(leg.trace_sha256.size(), 64u);
  EXPECT_EQ(leg.effective.at("--slots"), "8");
  EXPECT_EQ(leg.metrics.at("output_tokens"), 28 * 8);   // warm-up and measured, and nothing of the readiness probe
  EXPECT_GT(leg.boot_s, 0);
  EXPECT_GT(leg.cost_s, leg.boot_s);
  EXPECT_GT(leg.peak_rss_bytes, 1'000'000u);
  EXPECT_FALSE(leg.forced_stop);
  EXPECT_GT(leg.neighbours.seconds, 0);
  EXPECT_EQ(split(trim(leg.records_jsonl), '\n').size(), 28u);
}

TEST_F(Leg, SameTraceSameAnswers) {
  launch({});
  const LegResult a = result(), b = result();
  EXPECT_EQ(a.trace_sha256, b.trace_sha256);
  EXPECT_EQ(a.answers_sha256, b.answers_sha256);
  order_.trace_seed = 8;
  const LegResult other = result();
  EXPECT_NE(a.trace_sha256, other.trace_sha256);
  EXPECT_NE(a.answers_sha256, other.answers_sha256);
}

TEST_F(Leg, DeathUnderLoadIsTheCandidatesFault) {
  launch({"--die-after", "10"});
  const Failure died = failure();
  EXPECT_THAT(died.line, HasSubstr("dying as told"));
  EXPECT_NE(died.failure_class, "failed_requests");
}

TEST_F(Leg, FailedRequestsAreTheCandidatesFault) {
  // By length, not by count: the readiness probe needs its answer.
  launch({"--error-after", "4"});
  order_.traffic.output_tokens = {4, 0.8};   // about half of the answers are longer than 4 tokens
  const Failure failed = failure();
  EXPECT_EQ(failed.failure_class, "failed_requests");
  EXPECT_THAT(failed.line, HasSubstr("worker lost"));
}

TEST_F(Leg, AFixedPortThatIsTakenIsNoEvidenceOnceTheEngineHasAnswered) {
  const CannedServer neighbour([](int, const std::string&) {});
  const std::string port = neighbour.url("").substr(neighbour.url("").rfind(':') + 1);
  launch({});
  for (std::string& word : order_.launch.argv) word = replace_all(word, "${port}", port);
  EXPECT_EQ(failure().failure_class, "port_in_use") << "who starts needs the mend, not repetitions";
  order_.ran_before = true;
  EXPECT_THAT(result().void_reasons, testing::ElementsAre(HasSubstr("another process took our port")));
}

TEST_F(Leg, DeafServerIsKilledAndTheLegStands) {
  pack_.stop_grace_s = 0.2;
  launch({}, true);
  const LegResult leg = result();
  EXPECT_TRUE(leg.forced_stop);
  EXPECT_THAT(own_reasons(leg), testing::IsEmpty());
  EXPECT_GT(leg.value, 0);
}

TEST_F(Leg, IgnoredFlagIsTheCandidatesFault) {
  launch({});
  order_.launch.expected = {{"--slots", "16"}};
  EXPECT_EQ(failure().failure_class, "ignored_flag");
}

TEST_F(Leg, HangingServerEndsAtTheTimeLimit) {
  launch({"--stall-after", "4"});
  order_.time_limit_s = 0.5;
  EXPECT_EQ(failure().failure_class, "no_answers");
}

TEST_F(Leg, StopFlagMakesNoEvidence) {
  volatile bool stop = false;
  hooks_.stop_flag = &stop;
  hooks_.on_progress = [&](const LoadProgress&) { stop = true; };
  launch({"--tokens-per-second", "4"});
  EXPECT_THAT(result().void_reasons, testing::Contains(HasSubstr("stopped")));
  EXPECT_THAT(result().void_reasons, testing::Contains(HasSubstr("before the server was ready")));   // still set
}

TEST_F(Leg, PollutionMakesNoEvidence) {
  launch({});
  order_.limits.foreign_cpu = -1;   // any use at all is too much
  EXPECT_FALSE(own_reasons(result()).empty());
}

TEST_F(Leg, UnderLoadRunsOnceWhileTheServerServes) {
  launch({"--tokens-per-second", "40"});   // 28 requests of 8 tokens by 4 clients: 1.4 s, two reports of progress
  std::atomic<int> calls = 0;
  std::atomic<bool> served = false;
  hooks_.under_load = [&](Server& server) {
    ++calls;
    served = !server.url().empty() && server.metrics().count("output_tokens") > 0;
  };
  result();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(served);
}

TEST_F(Leg, WhatTheHookThrowsIsThrownAfterTheServerIsGone) {
  launch({"--tokens-per-second", "40"});
  int port = 0;
  hooks_.on_started = [&](const ProcessHandle&, int p) { port = p; };
  hooks_.under_load = [](Server&) { throw std::runtime_error("profiler broke"); };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_FALSE(port_listener(port).listening);
}

TEST_F(Leg, ALegWithoutRequestsIsRefused) {
  order_.measured_requests = 0;
  EXPECT_THROW(run(), Error);
}

}  // namespace
}  // namespace hyperloom

// Against tests/fakes/bad_server.py: one way to misbehave each.
#include "engine/server.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "engine/readiness.h"

namespace hyperloom {
namespace {

const std::string kFake = std::string(HYPERLOOM_SOURCE_DIR) + "/tests/fakes/bad_server.py";

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    pack_ = load_pack("custom");
    pack_.health_path = "/health";
    pack_.ready_timeout_s = 60;
    pack_.stop_grace_s = 5;
    pack_.effective = {{"-np", "GET /props#/total_slots"}, {"mode", "log:bad_server ([a-z-]+) loading"}};
    pack_.metrics_path = "/metrics";
    pack_.metrics = {{"tokens", "fake_tokens"}, {"ratio", "fake_ratio"}};
  }

  static LaunchSpec spec(const std::string& mode) {
    return {.argv = {"python3", kFake, mode, "--port", "${port}"}, .env = {}, .expected = {}, .api = "chat"};
  }
  fs::path log() const { return folder_.path() / "server.log"; }

  std::unique_ptr<Server> started(const LaunchSpec& spec) {
    auto outcome = Server::start(pack_, spec, log());
    if (const auto* failure = std::get_if<Failure>(&outcome)) ADD_FAILURE() << failure->text();
    auto* server = std::get_if<std::unique_ptr<Server>>(&outcome);
    return server != nullptr ? std::move(*server) : nullptr;
  }

  Failure failed(const LaunchSpec& spec) {
    auto outcome = Server::start(pack_, spec, log());
    if (const auto* failure = std::get_if<Failure>(&outcome)) return *failure;
    ADD_FAILURE() << "started";
    return {};
  }

  Pack pack_;
  TempDir folder_;
};

TEST_F(ServerTest, StartsIsReadBackAndLeavesNothing) {
  LaunchSpec launch = spec("good");
  launch.argv.insert(launch.argv.end(), {"--np", "8"});
  launch.expected = {{"-np", "8"}, {"mode", "good"}};
  const auto server = started(launch);
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(server->effective().at("-np"), "8");
  EXPECT_EQ(server->effective().at("mode"), "good");
  EXPECT_EQ(server->metrics(), (std::map<std::string, double>{{"tokens", 12.0}}));
  EXPECT_FALSE(server->died());
  EXPECT_GT(server->boot_s(), 0);
  const Server::Gone gone = server->stop();
  EXPECT_TRUE(gone.clean) << gone.problem;
  EXPECT_FALSE(gone.forced);
  EXPECT_FALSE(port_listener(server->port()).listening);
  EXPECT_TRUE(server->stop().clean) << "twice";
}

TEST_F(ServerTest, AServerBehindAWrapperIsOurs) {
  const auto server = started(spec("wrapper"));
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(server->stop().clean);
}

TEST_F(ServerTest, TheHandleIsKnownBeforeAnythingIsSent) {
  int port = 0;
  pid_t pid = 0;
  auto outcome = Server::start(pack_, spec("sigill"), log(), [&](const ProcessHandle& handle, int at) {
    pid = handle.pid;
    port = at;
  });
  EXPECT_GT(pid, 0);
  EXPECT_GT(port, 0);
  EXPECT_TRUE(std::holds_alternative<Failure>(outcome));
}

TEST_F(ServerTest, DeathsAreClassified) {
  EXPECT_EQ(failed(spec("sigill")).failure_class, "illegal_instruction");
  EXPECT_EQ(failed(spec("sigill")).rung, "rebuild");
  const Failure library = failed(spec("no-library"));
  EXPECT_EQ(library.failure_class, "missing_library");
  EXPECT_NE(library.line.find("libdemo.so.1"), std::string::npos);
  EXPECT_EQ(failed(spec("oom")).failure_class, "out_of_memory");
  EXPECT_EQ(failed(spec("port-in-use")).failure_class, "port_in_use");
}

TEST_F(ServerTest, HealthAloneIsNotReady) {   // case c04
  pack_.ready_timeout_s = 10;
  const Failure loading = failed(spec("loading"));
  EXPECT_EQ(loading.failure_class, "never_ready");
  EXPECT_NE(loading.line.find("503"), std::string::npos) << loading.line;
}

TEST_F(ServerTest, ReadyOnlyAfterARealToken) {   // case c04: models 200, health 200, completions 503 come first
  const auto server = started(spec("models-first"));
  ASSERT_NE(server, nullptr);
  EXPECT_NE(read_file(log()).find("ready after 4 completions"), std::string::npos);
}

TEST_F(ServerTest, NeverListensIsNeverReady) {
  pack_.ready_timeout_s = 2;
  EXPECT_EQ(failed(spec("silent")).failure_class, "never_ready");
}

TEST_F(ServerTest, TheAnswerMustMatchWhatThePackExpects) {
  const HttpResponse answer{200, R"({"choices": [{"message": {"content": "It is Paris."}}]})", ""};
  EXPECT_TRUE(judge_completion(pack_, answer).ready);
  pack_.ready_expect = "Paris";
  EXPECT_TRUE(judge_completion(pack_, answer).ready);
  pack_.ready_expect = "Berlin";
  EXPECT_FALSE(judge_completion(pack_, answer).ready);
  EXPECT_TRUE(judge_completion(pack_, answer).refused);
}

TEST_F(ServerTest, OddAnswersAreNotReady) {
  for (const char* body : {"", "null", "[]", "{}", R"({"choices": []})", R"({"choices": [null]})", R"({"choices": [{"text": 3}]})",
                           R"({"choices": [{"message": null}]})", R"({"choices": [{"text": " "}]})", R"({"choices": "x"})"}) {
    EXPECT_FALSE(judge_completion(pack_, {200, body, ""}).ready) << body;
  }
  EXPECT_FALSE(judge_completion(pack_, {503, "{}", ""}).refused);
  EXPECT_TRUE(judge_completion(pack_, {400, "{}", ""}).refused);
  EXPECT_FALSE(judge_completion(pack_, {0, "", "connection refused"}).refused);
}

TEST_F(ServerTest, AnIgnoredFlagFailsTheLaunch) {
  LaunchSpec launch = spec("ignores-np");
  launch.argv.insert(launch.argv.end(), {"--np", "8"});
  launch.expected = {{"-np", "8"}};
  const Failure failure = failed(launch);
  EXPECT_EQ(failure.failure_class, "ignored_flag");
  EXPECT_NE(failure.line.find("-np: asked for 8, the engine runs with 4"), std::string::npos) << failure.line;
}

TEST_F(ServerTest, AForeignServerIsNeitherMeasuredNorTouched) {   // case c03
  const auto old = started(spec("good"));
  ASSERT_NE(old, nullptr);
  LaunchSpec launch = spec("good");
  launch.argv.back() = std::to_string(old->port());
  const Failure failure = failed(launch);
  EXPECT_EQ(failure.failure_class, "port_in_use");
  EXPECT_NE(failure.line.find(std::to_string(old->child().handle().pid)), std::string::npos) << failure.line;
  EXPECT_FALSE(old->died());
}

TEST_F(ServerTest, AForeignServerThatAppearsDuringTheBootIsSeen) {
  LaunchSpec launch = spec("silent");
  std::unique_ptr<Child> other;
  auto outcome = Server::start(pack_, launch, log(), [&](const ProcessHandle&, int port) {
    other = Child::spawn({.argv = {"python3", kFake, "good", "--port", std::to_string(port)}});
  });
  ASSERT_TRUE(std::holds_alternative<Failure>(outcome));
  EXPECT_EQ(std::get<Failure>(outcome).failure_class, "foreign_server");
  EXPECT_FALSE(other->poll());
}

TEST_F(ServerTest, ALaunchWithoutAPortIsRefused) {
  LaunchSpec launch = spec("good");
  launch.argv.resize(3);
  EXPECT_THROW(Server::start(pack_, launch, log()), Error);
}

TEST_F(ServerTest, HangingOnTermIsForced) {
  pack_.stop_grace_s = 0.3;
  const auto server = started(spec("hang-term"));
  ASSERT_NE(server, nullptr);
  const Server::Gone gone = server->stop();
  EXPECT_TRUE(gone.clean) << gone.problem;
  EXPECT_TRUE(gone.forced);
}

TEST_F(ServerTest, AGrandchildGoesToo) {
  pack_.stop_grace_s = 1;
  const auto server = started(spec("grandchild"));
  ASSERT_NE(server, nullptr);
  const std::string text = read_file(log());
  const int pid = std::atoi(text.c_str() + text.find("grandchild ", text.find("loading")) + 11);
  ASSERT_GT(pid, 1);
  EXPECT_TRUE(server->stop().clean);
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(pid) + "/exe"));
}

TEST_F(ServerTest, DeathWhileServing) {
  const auto server = started(spec("dies-serving"));
  ASSERT_NE(server, nullptr);
  const std::string call = "curl -s -o /dev/null -d '{}' " + server->url() + "/v1/completions";
  EXPECT_NE(std::system(call.c_str()), 0);
  ASSERT_TRUE(server->child().wait(10));
  ASSERT_TRUE(server->died());
  EXPECT_EQ(server->died()->failure_class, "crashed");
}

TEST_F(ServerTest, StopFlagEndsTheBoot) {
  volatile bool stop = false;
  std::thread teller([&] { stop = true; });
  auto outcome = Server::start(pack_, spec("silent"), log(), {}, &stop);
  teller.join();
  ASSERT_TRUE(std::holds_alternative<Failure>(outcome));
  EXPECT_EQ(std::get<Failure>(outcome).failure_class, "interrupted");
}

}  // namespace
}  // namespace hyperloom

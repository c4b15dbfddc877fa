// Servers that misbehave on the wire: each request ends in one right state, in bounded memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <nlohmann/json.hpp>

#include "../../tests/fakes/canned_server.h"
#include "base/error.h"
#include "load/generator.h"
#include "load/result_files.h"
#include "net/http.h"

namespace hyperloom {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

RequestTrace trace_of(int count) {
  RequestTrace trace;
  for (int i = 0; i < count; ++i) trace.requests.push_back({"word " + std::to_string(i), 3, 0});
  return trace;
}

LoadSpec spec_for(const std::string& url) {
  LoadSpec spec;
  spec.url = url;
  spec.model = "m";
  spec.traffic.clients = 1;
  return spec;
}

const std::string kStream =
    "data: {\"choices\":[{\"delta\":{\"content\":\"gr\xC3\xBC\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"n \xF0\x9F\x8C\xB2\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":3}}\n\n"
    "data: [DONE]\n\n";
const std::string kText = "gr\xC3\xBCn \xF0\x9F\x8C\xB2";

std::string chunked(const std::string& body, size_t step) {
  std::string bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  char size[32];
  for (size_t at = 0; at < body.size(); at += step) {
    const std::string part = body.substr(at, step);
    std::snprintf(size, sizeof size, "%zX;ext=1\r\n", part.size());
    bytes += size + part + "\r\n";
  }
  return bytes + "0\r\nX-Trailer: 1\r\n\r\n";
}

// Reads one more request from a connection that is kept open; false when the client has gone.
bool next_request(int fd) {
  std::string request;
  char buffer[4096];
  while (true) {
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    request.append(buffer, static_cast<size_t>(n));
    const size_t head = request.find("\r\n\r\n"), at = request.find("Content-Length: ");
    if (head != std::string::npos && request.size() >= head + 4 + std::stoul(request.substr(at + 16))) return true;
  }
}

RequestRecord only(const LoadResult& result) {
  EXPECT_EQ(result.records.size(), 1u);
  return result.records.at(0);
}

TEST(HostileServer, OneByteAtATimeGivesTheSameAnswer) {
  CannedServer server([](int fd, const std::string&) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (const char c : chunked(kStream, 5)) CannedServer::send_all(fd, std::string(1, c));
  });
  const RequestRecord r = only(run_load(spec_for(server.url("")), trace_of(1)));
  EXPECT_EQ(r.state, RequestState::Completed) << r.fail_text;
  EXPECT_EQ(r.text, kText);
  EXPECT_EQ(r.output_tokens, 3);
  EXPECT_EQ(r.counted_chunks, 2);
}

TEST(HostileServer, ChunksMayBeCutAnywhere) {
  for (const size_t step : {1, 2, 3, 7, 64, 1000}) {
    CannedServer server([step](int fd, const std::string&) { CannedServer::send_all(fd, chunked(kStream, step)); });
    const RequestRecord r = only(run_load(spec_for(server.url("")), trace_of(1)));
    EXPECT_EQ(r.state, RequestState::Completed) << step;
    EXPECT_EQ(r.text, kText) << step;
  }
}

TEST(HostileServer, AHalfOpenConnectionTimesOut) {
  for (const char* said : {"", "HTTP/1.1 200 OK\r\nContent-Ty", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\ndata: {"}) {
    CannedServer server([said](int fd, const std::string&) {
      CannedServer::send_all(fd, said);
      CannedServer::wait_for_close(fd);
    });
    LoadSpec spec = spec_for(server.url(""));
    spec.request_timeout_s = 0.2;
    const LoadResult result = run_load(spec, trace_of(1));
    EXPECT_EQ(only(result).state, RequestState::TimedOut) << said;
    EXPECT_EQ(result.summary.timed_out, 1) << said;
    EXPECT_EQ(result.summary.ttft_ms.count + result.summary.e2e_ms.count, 0) << said;
  }
}

TEST(HostileServer, AnEventOf100MBIsRefusedBeforeItHasAllBeenRead) {
  std::atomic<bool> all_sent{false};
  CannedServer server([&](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"");
    const std::string mb(1 << 20, 'x');
    for (int i = 0; i < 100; ++i) {
      if (send(fd, mb.data(), mb.size(), MSG_NOSIGNAL) < 0) return;
    }
    all_sent = true;
  });
  const LoadResult result = run_load(spec_for(server.url("")), trace_of(1));
  EXPECT_EQ(only(result).state, RequestState::Failed);
  EXPECT_EQ(only(result).fail_kind, "event_too_large");
  EXPECT_THAT(only(result).fail_text, HasSubstr("16 MiB"));
  EXPECT_EQ(result.summary.fail_kinds.at("event_too_large"), 1);
  EXPECT_FALSE(all_sent);
}

TEST(HostileServer, EndlessHeadersAreRefusedBeforeTheyHaveAllBeenRead) {
  std::atomic<bool> all_sent{false};
  CannedServer server([&](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 200 OK\r\n");
    std::string lines;
    for (int i = 0; i < 10000; ++i) lines += "X-Header-" + std::to_string(i) + ": " + std::string(90, 'x') + "\r\n";
    for (int i = 0; i < 100; ++i) {
      if (send(fd, lines.data(), lines.size(), MSG_NOSIGNAL) < 0) return;
    }
    all_sent = true;
  });
  const LoadResult result = run_load(spec_for(server.url("")), trace_of(1));
  EXPECT_EQ(only(result).state, RequestState::Failed);
  EXPECT_EQ(only(result).fail_kind, "transport");
  EXPECT_THAT(only(result).fail_text, HasSubstr("header"));
  EXPECT_FALSE(all_sent);
  EXPECT_FALSE(http_call({.url = server.url()}).ok());
}

TEST(HostileServer, CompressedAnswersAreNeitherAskedForNorRead) {
  for (const std::string header : {"Content-Encoding: gzip", "content-encoding:br", "Transfer-Encoding: gzip, chunked"}) {
    std::string seen;
    CannedServer server([&](int fd, const std::string& request) {
      seen = request;
      CannedServer::send_all(fd, "HTTP/1.1 200 OK\r\n" + header + "\r\nContent-Type: text/event-stream\r\n\r\n\x1F\x8B\x08");
    });
    const RequestRecord r = only(run_load(spec_for(server.url("")), trace_of(1)));
    EXPECT_EQ(r.state, RequestState::Failed);
    EXPECT_THAT(r.fail_text, HasSubstr("compressed")) << header;
    EXPECT_THAT(seen, Not(HasSubstr("ncoding"))) << header;
    EXPECT_THAT(http_call({.url = server.url()}).error, HasSubstr("compressed")) << header;
  }
}

TEST(HostileServer, BrokenUtf8IsReplacedAndHarmsNoResultFile) {
  CannedServer server([](int fd, const std::string&) {
    CannedServer::send_all(fd, CannedServer::ok("data: {\"choices\":[{\"delta\":{\"content\":\"a\xFF\xC3z\"},\"finish_reason\":\"stop\"}]}\n\n"));
  });
  const LoadResult result = run_load(spec_for(server.url("")), trace_of(1));
  EXPECT_EQ(only(result).state, RequestState::Completed) << only(result).fail_text;
  EXPECT_EQ(only(result).text, "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(Json::parse(records_jsonl(result.records))["text"], only(result).text);

  CannedServer page([](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\n\xFF\xFE\xC3");
  });
  const LoadResult failed = run_load(spec_for(page.url("")), trace_of(1));
  EXPECT_EQ(only(failed).fail_kind, "http_500");
  EXPECT_TRUE(Json::accept(records_jsonl(failed.records)));
}

// Answers the first request of a connection and keeps it open; then `second` does what it likes with the next one.
struct KeepAlive {
  std::atomic<int> connections{0};
  CannedServer server;
  explicit KeepAlive(std::function<void(int fd)> second)
      : server([this, second](int fd, const std::string&) {
          const bool first = ++connections == 1;
          CannedServer::send_all(fd, chunked(kStream, 50));
          if (next_request(fd) && first) second(fd);
        }) {}
};

TEST(HostileServer, ARequestThatMetAClosingConnectionIsSentAgainOnce) {
  KeepAlive keep([](int) {});   // the server closes as the second request comes in
  const LoadResult result = run_load(spec_for(keep.server.url("")), trace_of(2));
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[0].retries, 0);
  EXPECT_EQ(result.records[1].state, RequestState::Completed) << result.records[1].fail_text;
  EXPECT_EQ(result.records[1].retries, 1);
  EXPECT_EQ(result.summary.retries, 1);
  EXPECT_THAT(result.summary.warnings, Contains(HasSubstr("sent again")));
  EXPECT_EQ(keep.connections, 2);
}

TEST(HostileServer, NothingIsSentAgainOnceAByteOfTheAnswerCame) {
  KeepAlive keep([](int fd) { CannedServer::send_all(fd, "HTTP/1.1 200 OK\r\n"); });
  const LoadResult result = run_load(spec_for(keep.server.url("")), trace_of(2));
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[1].state, RequestState::Failed);
  EXPECT_EQ(result.records[1].retries, 0);
  EXPECT_EQ(keep.connections, 1);
}

TEST(HostileServer, AFreshConnectionThatDiesIsAFailureAtOnce) {
  std::atomic<int> asked{0};
  CannedServer server([&](int, const std::string&) { ++asked; });
  const RequestRecord r = only(run_load(spec_for(server.url("")), trace_of(1)));
  EXPECT_EQ(r.state, RequestState::Failed);
  EXPECT_EQ(r.retries, 0);
  EXPECT_EQ(asked, 1);
}

TEST(HostileServer, AHostThatDoesNotResolveIsSaid) {
  // A label of more than 63 bytes: no name server is asked.
  const RequestRecord r = only(run_load(spec_for("http://" + std::string(70, 'a') + ".invalid:80"), trace_of(1)));
  EXPECT_EQ(r.state, RequestState::Failed);
  EXPECT_EQ(r.fail_kind, "transport");
  EXPECT_THAT(r.fail_text, HasSubstr("resolve"));
}

TEST(HostileServer, MoreClientsThanDescriptorsIsRefusedBeforeAnythingIsSent) {
  std::atomic<int> asked{0};
  CannedServer server([&](int, const std::string&) { ++asked; });
  LoadSpec spec = spec_for(server.url(""));
  spec.traffic.clients = 2000000000;
  try {
    run_load(spec, trace_of(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_THAT(error.what(), HasSubstr("clients 2000000000"));
    EXPECT_THAT(error.mend(), HasSubstr("ulimit -n"));
  }
  EXPECT_EQ(asked, 0);
}

TEST(HostileServer, ASecretThatTheServerQuotesIsMasked) {
  CannedServer server([](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 401 No\r\nContent-Length: 26\r\n\r\nwrong key: sk-very-secret.");
  });
  LoadSpec spec = spec_for(server.url(""));
  spec.secret = "sk-very-secret";
  EXPECT_EQ(only(run_load(spec, trace_of(1))).fail_text, "wrong key: ***.");
}

TEST(HostileServer, WhatLoadsNeedsNoRecords) {
  CannedServer server([](int fd, const std::string&) { CannedServer::send_all(fd, chunked(kStream, 50)); });
  LoadSpec spec = spec_for(server.url(""));
  spec.traffic.clients = 2;
  spec.keep_records = false;
  const LoadResult result = run_load(spec, trace_of(8));
  EXPECT_TRUE(result.records.empty());
  EXPECT_EQ(result.summary.completed, 8);
  EXPECT_EQ(result.summary.ttft_ms.count, 8);
  EXPECT_EQ(result.first_failure.id, -1);
  EXPECT_DOUBLE_EQ(result.answered_prompt_tokens, 16);
  EXPECT_GT(result.summary.read_wait_ms.count, 0);
}

}  // namespace
}  // namespace hyperloom

#include "net/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "../../tests/fakes/canned_server.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::Not;

HttpRequest get(const std::string& url) {
  HttpRequest request;
  request.url = url;
  return request;
}

TEST(HttpCall, PostsABodyWithItsHeaders) {
  std::string seen;
  CannedServer server([&](int fd, const std::string& request) {
    seen = request;
    CannedServer::send_all(fd, CannedServer::ok("{}"));
  });
  HttpRequest request = get(server.url("/v1/x?y=1"));
  request.method = "POST";
  request.body = std::string(2 << 20, 'x');   // long enough for curl to like a 100-continue
  request.headers = {"Authorization: Bearer k"};
  const HttpResponse response = http_call(request);
  EXPECT_TRUE(response.ok()) << response.error;
  EXPECT_EQ(response.body, "{}");
  EXPECT_THAT(seen.substr(0, 400), HasSubstr("POST /v1/x?y=1 HTTP/1.1\r\n"));
  EXPECT_THAT(seen.substr(0, 400), HasSubstr("Authorization: Bearer k\r\n"));
  EXPECT_THAT(seen.substr(0, 400), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(seen.substr(0, 400), Not(HasSubstr("Expect")));
}

TEST(HttpCall, AnErrorStatusIsAValue) {
  CannedServer server([](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nwait");
  });
  const HttpResponse response = http_call(get(server.url()));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "wait");
  EXPECT_EQ(response.error, "");
  EXPECT_FALSE(response.ok());
}

TEST(HttpCall, RedirectsAreNotFollowed) {
  CannedServer server([](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(http_call(get(server.url())).status, 302);
}

TEST(HttpCall, AProxyInTheEnvironmentIsIgnored) {
  CannedServer server([](int fd, const std::string&) { CannedServer::send_all(fd, CannedServer::ok("direct")); });
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  const HttpResponse response = http_call(get(server.url()));
  unsetenv("http_proxy");
  EXPECT_EQ(response.body, "direct");
}

TEST(HttpCall, TransportFailuresAreSaidInWords) {
  std::string closed;
  {
    CannedServer server([](int, const std::string&) {});
    closed = server.url();
    const HttpResponse empty = http_call(get(closed));
    EXPECT_EQ(empty.status, 0);
    EXPECT_NE(empty.error, "");
  }
  EXPECT_THAT(http_call(get(closed)).error, HasSubstr("onnect"));
  EXPECT_NE(http_call(get("file:///etc/passwd")).error, "");
  EXPECT_NE(http_call(get("not a url")).error, "");
}

TEST(HttpCall, TimesOut) {
  CannedServer server([](int fd, const std::string&) { CannedServer::wait_for_close(fd); });
  HttpRequest request = get(server.url());
  request.timeout_s = 0.05;
  const HttpResponse response = http_call(request);
  EXPECT_EQ(response.status, 0);
  EXPECT_THAT(response.error, HasSubstr("timed out"));
}

// Ends the loop with a failure instead of hanging for ever.
struct Loop : EventLoop {
  Loop() {
    after(60, [this] {
      ADD_FAILURE() << "nothing happened for a minute";
      stop();
    });
  }
};

TEST(HttpClient, StreamsManyAtOnceAndStartsMoreFromItsCallbacks) {
  CannedServer server([](int fd, const std::string& request) {
    CannedServer::send_all(fd, CannedServer::ok(request.substr(4, request.find(' ', 4) - 4)));
  });
  Loop loop;
  HttpClient client(loop);
  int ended = 0;
  std::string bytes;
  std::function<void(int)> start = [&](int n) {
    client.start(get(server.url("/" + std::to_string(n))),
                 {[&](std::string_view part, double now) {
                    EXPECT_GT(now, 0);
                    bytes += part;
                  },
                  [&, n](const HttpResponse& response, double) {
                    EXPECT_TRUE(response.ok()) << response.error;
                    EXPECT_EQ(response.body, "");
                    if (n < 20) start(n + 20);
                    if (++ended == 40) loop.stop();
                  }});
  };
  for (int n = 0; n < 20; ++n) start(n);
  loop.run();
  EXPECT_EQ(ended, 40);
  EXPECT_THAT(bytes, HasSubstr("/39"));
}

TEST(HttpClient, BytesArriveBeforeTheEnd) {
  std::atomic<bool> go{false};
  CannedServer server([&](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    while (!go) std::this_thread::yield();
    CannedServer::send_all(fd, "3\r\ntwo\r\n0\r\n\r\n");
  });
  Loop loop;
  HttpClient client(loop);
  std::string bytes;
  client.start(get(server.url()), {[&](std::string_view part, double) {
                                     bytes += part;
                                     if (bytes == "one") go = true;   // the server waits for us to have seen it
                                   },
                                   [&](const HttpResponse&, double) { loop.stop(); }});
  loop.run();
  EXPECT_EQ(bytes, "onetwo");
  go = true;
}

TEST(HttpClient, CancelFromAnywhereMeansNoFurtherCallback) {
  CannedServer server([](int fd, const std::string&) {
    CannedServer::send_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc");
    CannedServer::wait_for_close(fd);
  });
  Loop loop;
  HttpClient client(loop);
  auto never = [](const HttpResponse&, double) { ADD_FAILURE() << "an end after cancel"; };
  const HttpClient::Call at_once = client.start(get(server.url()), {{}, never});
  client.cancel(at_once);
  HttpClient::Call inside = 0, other = 0;
  int ended = 0;
  other = client.start(get(server.url()), {{}, never});
  inside = client.start(get(server.url()), {[&](std::string_view, double) {
                                              client.cancel(inside);
                                              client.cancel(other);
                                              // Starting is as good from here.
                                              client.start(get("http://127.0.0.1:1/"),
                                                           {{}, [&](const HttpResponse& r, double) {
                                                              EXPECT_EQ(r.status, 0);
                                                              EXPECT_NE(r.error, "");
                                                              ++ended;
                                                              loop.stop();
                                                            }});
                                            },
                                            never});
  loop.run();
  EXPECT_EQ(ended, 1);
  client.cancel(inside);   // of one long gone: nothing
}

TEST(HttpClient, AnExceptionOfAHandlerReachesTheLoopsCaller) {
  CannedServer server([](int fd, const std::string&) { CannedServer::send_all(fd, CannedServer::ok("x")); });
  Loop loop;
  HttpClient client(loop);
  client.start(get(server.url()), {[](std::string_view, double) { throw std::runtime_error("mine"); }, {}});
  EXPECT_THROW(loop.run(), std::runtime_error);
}

TEST(HttpClient, GoesAwayWithTransfersInFlight) {
  CannedServer server([](int fd, const std::string&) { CannedServer::wait_for_close(fd); });
  Loop loop;
  HttpClient client(loop);
  client.start(get(server.url()), {{}, [](const HttpResponse&, double) { ADD_FAILURE(); }});
  loop.after(0.01, [&] { loop.stop(); });
  loop.run();
}

}  // namespace
}  // namespace hyperloom

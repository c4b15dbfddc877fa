// Any bytes as a server's answer, over a real socket: the client ends every call in one state, and what a request becomes is
// sane. What libcurl itself makes of them is its own affair.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "load/request_record.h"
#include "net/http.h"

using namespace hyperloom;

namespace {

void require(bool holds) {
  if (!holds) abort();
}

// Answers every connection with the same bytes, in two parts, and closes it.
class Answering {
 public:
  Answering() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(listener_, 64) == 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    std::thread([this] { serve(); }).detach();   // lives as long as the program
  }

  const std::string& url() const { return url_; }
  void answer_with(std::string bytes, size_t cut) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bytes_ = std::move(bytes);
    cut_ = cut;
  }

 private:
  void serve() {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      std::string bytes;
      size_t cut;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        bytes = bytes_;
        cut = std::min(cut_, bytes.size());
      }
      char request[4096];
      (void)!recv(fd, request, sizeof request, 0);
      (void)!send(fd, bytes.data(), cut, MSG_NOSIGNAL);
      (void)!send(fd, bytes.data() + cut, bytes.size() - cut, MSG_NOSIGNAL);
      shutdown(fd, SHUT_WR);
      while (recv(fd, request, sizeof request, 0) > 0) {
      }
      close(fd);
    }
  }

  int listener_;
  std::string url_, bytes_;
  size_t cut_ = 0;
  std::mutex mutex_;
};

}  // namespace

// The first byte says where the answer is cut in two, the second whether it gets a head of ours; the rest is the answer.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Answering server;
  if (size < 2) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[1] & 1) bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + bytes;
  else if (data[1] & 2) bytes = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + bytes;
  server.answer_with(bytes, bytes.size() * data[0] / 256);

  const HttpResponse whole = http_call({.url = server.url(), .timeout_s = 5});
  require(whole.status >= 0 && whole.status < 1000 && whole.body.size() <= bytes.size());
  require(whole.status > 0 || !whole.error.empty());

  EventLoop loop;
  HttpClient client(loop);
  RequestRecord record;
  record.intended_s = record.sent_s = EventLoop::now_s();
  StreamFold fold(record, true);
  int ends = 0;
  client.start({.method = "POST", .url = server.url(), .body = "{}", .timeout_s = 5},
               {[&](std::string_view part, double now) {
                  require(ends == 0);
                  fold.on_bytes(part, now);
                },
                [&](const HttpResponse& response, double now) {
                  ++ends;
                  record.retries = response.retries;
                  fold.on_end(response.status, response.error, now);
                  loop.stop();
                }});
  loop.run();
  require(ends == 1);
  require(record.state == RequestState::Completed || (record.state == RequestState::Failed && !record.fail_kind.empty()));
  require(record.retries == 0 || record.retries == 1);
  require(record.ttft_s() < 0 || record.ttft_s() <= record.e2e_s() + 1e-9);
  (void)to_json_value(record).dump(-1, ' ', false, Json::error_handler_t::replace);
  return 0;
}

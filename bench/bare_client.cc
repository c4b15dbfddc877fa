// The least that a streaming load client can do: the floor that ours is measured against. A closed loop of keep-alive connections
// on epoll; it counts `data:` by a plain search, stamps the first one of each request, and understands nothing else.
//
//   bench_bare_client PORT CLIENTS REQUESTS TOKENS [PROMPT_WORDS]
//
// Prints one JSON line. Times to first token are from before the connection is made (first request of a connection) or from
// before the request is written.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

double now_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct Client {
  int fd = -1;
  double asked_s = 0;
  bool answered = false;        // its first event has come
  char tail[8] = {};            // the last bytes before this read: an end or a `data:` may be cut in two
  size_t tail_size = 0;
};

constexpr char kEnd[] = "\r\n0\r\n\r\n";     // of a chunked body
constexpr size_t kEndSize = sizeof kEnd - 1;

size_t count_of_data(const char* from, const char* end) {
  size_t count = 0;
  while (const void* at = memmem(from, static_cast<size_t>(end - from), "data:", 5)) {
    ++count;
    from = static_cast<const char*>(at) + 5;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: bench_bare_client PORT CLIENTS REQUESTS TOKENS [PROMPT_WORDS]\n");
    return 2;
  }
  const int clients = std::atoi(argv[2]), requests = std::atoi(argv[3]), words = argc > 5 ? std::atoi(argv[5]) : 128;
  std::string prompt;
  for (int i = 0; i < words; ++i) prompt += " word";
  const std::string body = R"({"model":"stamp","max_tokens":)" + std::string(argv[4]) +
                           R"(,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":")" + prompt + "\"}]}";
  const std::string request = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(argv[1])));

  const int epoll = epoll_create1(0);
  std::vector<Client> all(static_cast<size_t>(clients));
  std::vector<double> ttft_ms;
  ttft_ms.reserve(static_cast<size_t>(requests));
  int asked = 0, done = 0;
  size_t events = 0;
  const auto ask = [&](Client& c) {
    ++asked;
    c.answered = false;
    c.tail_size = 0;
    if (write(c.fd, request.data(), request.size()) != static_cast<ssize_t>(request.size())) die("write");
  };
  const double began = now_s();
  for (int i = 0; i < clients && asked < requests; ++i) {
    Client& c = all[static_cast<size_t>(i)];
    c.asked_s = now_s();
    c.fd = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(c.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) die("connect");
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &c;
    epoll_ctl(epoll, EPOLL_CTL_ADD, c.fd, &event);
    ask(c);
  }
  static char buffer[8 + 262144];
  while (done < requests) {
    epoll_event ready[256];
    const int count = epoll_wait(epoll, ready, 256, -1);
    for (int i = 0; i < count; ++i) {
      Client& c = *static_cast<Client*>(ready[i].data.ptr);
      char* const fresh = buffer + 8;
      const ssize_t size = recv(c.fd, fresh, sizeof buffer - 8, 0);
      if (size <= 0) die("recv");
      char* const from = fresh - c.tail_size;
      std::memcpy(from, c.tail, c.tail_size);
      const char* const end = fresh + size;
      const size_t seen = count_of_data(from, end);
      events += seen;
      if (!c.answered && seen > 0) {
        c.answered = true;
        ttft_ms.push_back((now_s() - c.asked_s) * 1e3);
      }
      if (end - from >= static_cast<ssize_t>(kEndSize) && std::memcmp(end - kEndSize, kEnd, kEndSize) == 0) {
        ++done;
        if (asked < requests) c.asked_s = now_s(), ask(c);
        continue;
      }
      // Not a whole `data:`, which would be counted twice.
      c.tail_size = std::min<size_t>(static_cast<size_t>(end - from), 7);
      std::memcpy(c.tail, end - c.tail_size, c.tail_size);
      if (const void* whole = memmem(c.tail, c.tail_size, "data:", 5)) {
        const size_t skip = static_cast<size_t>(static_cast<const char*>(whole) - c.tail) + 5;
        std::memmove(c.tail, c.tail + skip, c.tail_size - skip);
        c.tail_size -= skip;
      }
    }
  }
  const double took = now_s() - began;
  std::sort(ttft_ms.begin(), ttft_ms.end());
  const auto at = [&](double p) { return ttft_ms[static_cast<size_t>(p * static_cast<double>(ttft_ms.size() - 1))]; };
  std::printf("{\"requests\":%d,\"events\":%zu,\"seconds\":%.6f,\"ttft_ms\":{\"p50\":%.4f,\"p99\":%.4f,\"max\":%.4f}}\n", done, events, took, at(0.5),
              at(0.99), at(1));
}

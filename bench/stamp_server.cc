// A streaming OpenAI-compatible server whose timing is known: it sends tokens on a schedule of its own and stamps each send, so
// that what a load client reports can be held against what happened. One thread, no model, no parsing beyond a few fields.
//
//   bench_stamp_server [--port P] [--ttft-ms 20] [--interval-ms X | --rate TOKENS_PER_S --streams N | --unpaced] [--stamps FILE]
//
// POST /v1/chat/completions and /v1/completions (streamed or one body), GET /v1/models, GET /health. As many tokens as
// `max_tokens` asks for; usage in the last event. Prints `port P` when it listens and, on SIGTERM or SIGINT, one JSON line of what
// it did, times in seconds of CLOCK_MONOTONIC. It says so itself when it sent late (`late_share`: more than 1 ms after schedule).
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "stamp_log.h"

namespace {

using bench::StampLog;
using bench::now_s;

constexpr double kQuantum_s = 200e-6;       // at high rates it wakes once in so long and sends all that is due
constexpr int kUnpacedTokensASend = 64;
const char* const kWords[] = {" the", " of", " a", " in", " we", " time", " is", " and"};

volatile sig_atomic_t stop_asked = 0;

struct Options {
  int port = 0, streams = 0;
  double ttft_s = 0.020, interval_s = 0.010;
  std::string stamps;
};

struct Connection {
  int fd = -1;
  std::string in, out;                      // what is read of a request; what the kernel did not take yet
  int64_t request = -1;                     // index, -1 = idle
  bool chat = true, streamed = true, watching_out = false;
  uint32_t wanted = 0, made = 0, accepted = 0, prompt_tokens = 0;   // tokens asked for, written, taken by the kernel
};

struct Due {
  double at;
  int fd;
  int64_t request;
  bool operator<(const Due& other) const { return at > other.at; }   // the earliest on top
};

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "stamp_server: %s\n", what.c_str());
  std::exit(2);
}

// The number after the last `"name":` of a body; `fallback` when there is none.
long number_in(std::string_view body, std::string_view name, long fallback) {
  const size_t at = body.rfind(name);
  if (at == std::string_view::npos) return fallback;
  const size_t value = body.find_first_not_of(": ", at + name.size());
  if (value == std::string_view::npos || body[value] < '0' || body[value] > '9') return fallback;
  return std::strtol(body.data() + value, nullptr, 10);
}

class Server {
 public:
  explicit Server(const Options& options)
      : options_(options), log_(options.streams, options.ttft_s, options.interval_s), connections_(4096) {}
  void run();
  const StampLog& log() const { return log_; }

 private:
  void listen_here();
  void accept_all();
  void on_readable(Connection& c);
  void on_request(Connection& c, std::string_view head, std::string_view body);
  void begin_answer(Connection& c, std::string_view head, std::string_view body);
  void send_due();
  void write_tokens(Connection& c, int count);
  void write_event(Connection& c, const char* word, bool last);
  void write_end(Connection& c);
  void write_body(Connection& c, int status, const std::string& json);
  void chunk(Connection& c, const char* text, int size);
  void flush(Connection& c, double due);
  void close_connection(Connection& c);
  int wait(epoll_event* events, int most);

  Options options_;
  StampLog log_;
  int epoll_ = -1, listener_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;   // by descriptor
  std::priority_queue<Due> due_;
  double woke_s_ = 0;
};

void Server::listen_here() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(options_.port));
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, plain, sizeof address) != 0 || listen(listener_, 4096) != 0)
    die("cannot listen on port " + std::to_string(options_.port) + ": " + std::strerror(errno));
  socklen_t size = sizeof address;
  getsockname(listener_, plain, &size);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{EPOLLIN, {.fd = listener_}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event);
  std::printf("port %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
}

int Server::wait(epoll_event* events, int most) {
  if (due_.empty()) return epoll_wait(epoll_, events, most, -1);
  const double seconds = std::max(due_.top().at, woke_s_ + kQuantum_s) - now_s();
  if (options_.interval_s == 0 || seconds <= 0) return epoll_wait(epoll_, events, most, 0);
  timespec time{static_cast<time_t>(seconds), static_cast<long>((seconds - std::floor(seconds)) * 1e9)};
  return static_cast<int>(syscall(SYS_epoll_pwait2, epoll_, events, most, &time, nullptr, 0));
}

void Server::run() {
  listen_here();
  while (!stop_asked) {
    epoll_event events[256];
    const int ready = wait(events, 256);
    if (ready < 0 && errno != EINTR) die(std::string("cannot wait: ") + std::strerror(errno));
    woke_s_ = now_s();
    for (int i = 0; i < ready; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener_) {
        accept_all();
        continue;
      }
      Connection* c = connections_[static_cast<size_t>(fd)].get();
      if (c && (events[i].events & EPOLLOUT)) flush(*c, 0);
      c = connections_[static_cast<size_t>(fd)].get();
      if (c && (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) on_readable(*c);
    }
    send_due();
  }
}

void Server::accept_all() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connections_.size() <= static_cast<size_t>(fd)) connections_.resize(static_cast<size_t>(fd) * 2);
    auto& place = connections_[static_cast<size_t>(fd)];
    place = std::make_unique<Connection>();
    place->fd = fd;
    epoll_event event{EPOLLIN, {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
}

void Server::close_connection(Connection& c) {
  const int fd = c.fd;
  if (c.request >= 0) log_.ended();
  close(fd);
  connections_[static_cast<size_t>(fd)].reset();
}

void Server::on_readable(Connection& c) {
  char bytes[65536];
  const ssize_t size = recv(c.fd, bytes, sizeof bytes, 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return close_connection(c);
  c.in.append(bytes, static_cast<size_t>(size));
  const size_t head_end = c.in.find("\r\n\r\n");
  if (head_end == std::string::npos) return;
  const std::string_view head = std::string_view(c.in).substr(0, head_end + 2);
  size_t length = 0;
  for (const char* name : {"Content-Length: ", "content-length: "})
    if (const size_t at = head.find(name); at != std::string_view::npos) length = std::strtoul(head.data() + at + 16, nullptr, 10);
  if (c.in.size() < head_end + 4 + length) return;
  const std::string whole = std::move(c.in);
  c.in.clear();
  on_request(c, std::string_view(whole).substr(0, head_end + 2), std::string_view(whole).substr(head_end + 4, length));
}

void Server::on_request(Connection& c, std::string_view head, std::string_view body) {
  log_.any_request();
  if (head.substr(0, 5) == "POST ") return begin_answer(c, head, body);
  if (head.find(" /v1/models ") != std::string_view::npos)
    return write_body(c, 200, R"({"object":"list","data":[{"id":"stamp","object":"model","created":1,"owned_by":"bench","max_model_len":32768}]})");
  if (head.find(" /health ") != std::string_view::npos) return write_body(c, 200, "{}");
  write_body(c, 404, R"({"error":{"message":"not found","type":"NotFoundError","code":404}})");
}

void Server::begin_answer(Connection& c, std::string_view head, std::string_view body) {
  c.chat = head.find("chat/completions") != std::string_view::npos;
  if (!c.chat && head.find("/completions") == std::string_view::npos) return write_body(c, 404, R"({"error":{"message":"not found"}})");
  if (c.request >= 0) return close_connection(c);   // pipelined: no client that we measure does it
  c.wanted = static_cast<uint32_t>(std::clamp(number_in(body, "\"max_tokens\"", number_in(body, "\"max_completion_tokens\"", 16)), 1L, 1'000'000L));
  c.streamed = body.find("\"stream\":true") != std::string_view::npos || body.find("\"stream\": true") != std::string_view::npos;
  c.prompt_tokens = 1 + static_cast<uint32_t>(std::count(body.begin(), body.end(), ' '));
  c.made = c.accepted = 0;
  c.request = log_.arrived(c.wanted);
  due_.push({log_.due_s(c.request, c.streamed ? 0 : c.wanted - 1), c.fd, c.request});
}

void Server::send_due() {
  // Only what is due by one look at the clock: descriptors must not starve.
  const double now = now_s();
  while (!due_.empty() && due_.top().at <= now) {
    const Due due = due_.top();
    due_.pop();
    Connection* c = connections_[static_cast<size_t>(due.fd)].get();
    if (!c || c->request != due.request) continue;   // its client has left
    write_tokens(*c, options_.interval_s == 0 ? kUnpacedTokensASend : 1);
    const bool more = c->made < c->wanted;
    const double next = more ? log_.due_s(due.request, c->made) : 0;
    flush(*c, due.at);
    // Unpaced, a full socket waits for its EPOLLOUT instead.
    c = connections_[static_cast<size_t>(due.fd)].get();
    if (more && c && (options_.interval_s > 0 || c->out.empty())) due_.push({next, due.fd, due.request});
  }
}

void Server::chunk(Connection& c, const char* text, int size) {
  char head[16];
  c.out.append(head, static_cast<size_t>(std::snprintf(head, sizeof head, "%x\r\n", size)));
  c.out.append(text, static_cast<size_t>(size)).append("\r\n", 2);
}

void Server::write_tokens(Connection& c, int count) {
  if (!c.streamed) {
    std::string text;
    for (c.made = 0; c.made < c.wanted; ++c.made) text += kWords[c.made % 8];
    char json[512];
    std::snprintf(json, sizeof json, R"(},"finish_reason":"length"}],"usage":{"prompt_tokens":%u,"completion_tokens":%u,"total_tokens":%u}})",
                  c.prompt_tokens, c.wanted, c.prompt_tokens + c.wanted);
    const std::string choice = c.chat ? R"("message":{"role":"assistant","content":")" + text + "\"" : R"("text":")" + text + "\"";
    std::string body = R"({"id":"s","object":"chat.completion","created":1,"model":"stamp","choices":[{"index":0,)" + choice + json;
    if (!c.chat) body.erase(body.find("},\"finish"), 1);
    return write_body(c, 200, body);
  }
  if (c.made == 0)
    c.out += "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (; count > 0 && c.made < c.wanted; --count) {
    const char* word = kWords[c.made % 8];
    ++c.made;
    write_event(c, word, c.made == c.wanted);
  }
  if (c.made == c.wanted) write_end(c);
}

void Server::write_event(Connection& c, const char* word, bool last) {
  char text[512];
  const char* finish = last ? "\"length\"" : "null";
  const auto id = static_cast<unsigned long long>(c.request);
  const char* role = c.made == 1 ? "\"role\":\"assistant\"," : "";
  const int size = c.chat ? std::snprintf(text, sizeof text,
      "data: {\"id\":\"chatcmpl-%032llx\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"stamp\",\"choices\":"
      "[{\"index\":0,\"delta\":{%s\"content\":\"%s\"},\"logprobs\":null,\"finish_reason\":%s}]}\n\n", id, role, word, finish)
    : std::snprintf(text, sizeof text,
      "data: {\"id\":\"cmpl-%032llx\",\"object\":\"text_completion\",\"created\":1700000000,\"model\":\"stamp\",\"choices\":"
      "[{\"index\":0,\"text\":\"%s\",\"logprobs\":null,\"finish_reason\":%s}]}\n\n", id, word, finish);
  chunk(c, text, size);
}

void Server::write_end(Connection& c) {
  char text[512];
  const int size = std::snprintf(text, sizeof text,
      "data: {\"id\":\"cmpl-%032llx\",\"object\":\"%s\",\"created\":1700000000,\"model\":\"stamp\",\"choices\":[],"
      "\"usage\":{\"prompt_tokens\":%u,\"total_tokens\":%u,\"completion_tokens\":%u}}\n\ndata: [DONE]\n\n",
      static_cast<unsigned long long>(c.request), c.chat ? "chat.completion.chunk" : "text_completion", c.prompt_tokens,
      c.prompt_tokens + c.wanted, c.wanted);
  chunk(c, text, size);
  c.out += "0\r\n\r\n";
}

void Server::write_body(Connection& c, int status, const std::string& json) {
  c.out += "HTTP/1.1 " + std::string(status == 200 ? "200 OK" : "404 Not Found") + "\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(json.size()) + "\r\n\r\n" + json;
  if (c.request < 0) flush(c, 0);
}

// Hands what is written to the kernel; what that took is stamped. `due`: when it should have gone, 0 = it is late already.
void Server::flush(Connection& c, double due) {
  if (c.out.empty()) return;
  const ssize_t sent = send(c.fd, c.out.data(), c.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return close_connection(c);
  const bool all = sent == static_cast<ssize_t>(c.out.size());
  c.out.erase(0, sent > 0 ? static_cast<size_t>(sent) : 0);
  if (all == c.watching_out) {
    epoll_event event{EPOLLIN | (all ? 0u : static_cast<uint32_t>(EPOLLOUT)), {.fd = c.fd}};
    epoll_ctl(epoll_, EPOLL_CTL_MOD, c.fd, &event);
    c.watching_out = !all;
  }
  if (!all) log_.blocked();
  if (!all || c.request < 0) return;
  log_.sent(c.request, c.accepted, c.made, due);
  c.accepted = c.made;
  if (c.made == c.wanted) {
    c.request = -1;
    log_.ended();
  } else if (options_.interval_s == 0 && due == 0) {
    due_.push({log_.due_s(c.request, c.made), c.fd, c.request});
  }
}

Options parse(int argc, char** argv) {
  Options options;
  double rate = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--unpaced") {
      options.ttft_s = options.interval_s = 0;
      continue;
    }
    if (i + 1 == argc) die(flag + " needs a value (or is not known); see the head of stamp_server.cc");
    const std::string value = argv[++i];
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (flag == "--stamps") { options.stamps = value; continue; }
    if (value.empty() || *end || !(number >= 0)) die(flag + " " + value + ": give a number, 0 or more");
    if (flag == "--port") options.port = static_cast<int>(number);
    else if (flag == "--ttft-ms") options.ttft_s = number / 1e3;
    else if (flag == "--interval-ms") options.interval_s = number / 1e3;
    else if (flag == "--rate") rate = number;
    else if (flag == "--streams") options.streams = static_cast<int>(number);
    else die(flag + " is not known; see the head of stamp_server.cc");
  }
  if (rate > 0 && options.streams < 1) die("--rate needs --streams: each stream gets its share of the rate");
  if (rate > 0) options.interval_s = options.streams / rate;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  prctl(PR_SET_TIMERSLACK, 1);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = 1; };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  Server server(options);
  server.run();
  server.log().print();
  if (!options.stamps.empty() && !server.log().write(options.stamps)) die("cannot write --stamps " + options.stamps + ": " + std::strerror(errno));
}

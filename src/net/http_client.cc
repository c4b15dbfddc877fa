#include <sys/epoll.h>

#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "net/curl_easy.h"
#include "net/http.h"

namespace hyperloom {

namespace {

struct Transfer {
  Transfer(HttpClient::Call call_, const HttpRequest& request) : call(call_), easy(request) {}
  const HttpClient::Call call;
  CurlEasy easy;
  HttpClient::Handlers handlers;
  std::exception_ptr* thrown = nullptr;   // where an exception of on_bytes waits until libcurl has returned
  bool added = false, cancelled = false;
};

size_t on_body(char* bytes, size_t size, size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  if (transfer.cancelled) return 0;
  try {
    if (transfer.handlers.on_bytes) {
      transfer.handlers.on_bytes({bytes, size * count}, EventLoop::now_s());
    }
  } catch (...) {
    *transfer.thrown = std::current_exception();
    return 0;
  }
  return size * count;
}

}  // namespace

// libcurl's multi interface refuses to be entered from one of its own callbacks, so what handlers ask for
// while it runs (`inside_`) is done as soon as it has returned.
struct HttpClient::Impl {
  explicit Impl(EventLoop& loop) : loop_(loop) {}
  ~Impl();

  void add(Transfer& transfer);
  void act(curl_socket_t socket, int events);   // lets libcurl work, then settles what ended
  void settle();
  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
  static int on_timer(CURLM*, long timeout_ms, void* self);

  EventLoop& loop_;
  CURLM* multi_ = nullptr;
  std::optional<EventLoop::TimerId> timer_;
  std::map<Call, std::unique_ptr<Transfer>> transfers_;
  Call next_call_ = 1;
  bool inside_ = false, deferred_ = false;
  std::exception_ptr thrown_;
  LogHistogram read_wait_s_;
};

HttpClient::Impl::~Impl() {
  for (auto& [call, transfer] : transfers_) {
    if (transfer->added) curl_multi_remove_handle(multi_, transfer->easy.get());
  }
  transfers_.clear();
  if (multi_) curl_multi_cleanup(multi_);
  if (timer_) loop_.cancel(*timer_);
}

int HttpClient::Impl::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  auto& impl = *static_cast<Impl*>(self);
  try {
    if (what == CURL_POLL_REMOVE) {
      impl.loop_.unwatch(socket);
      return 0;
    }
    uint32_t wanted = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) wanted |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) wanted |= EPOLLOUT;
    impl.loop_.watch(socket, wanted, [&impl, socket](uint32_t ready) {
      if (ready & EPOLLIN) impl.read_wait_s_.add(EventLoop::now_s() - impl.loop_.ready_since_s());
      int events = 0;
      if (ready & EPOLLIN) events |= CURL_CSELECT_IN;
      if (ready & EPOLLOUT) events |= CURL_CSELECT_OUT;
      if (ready & (EPOLLERR | EPOLLHUP)) events |= CURL_CSELECT_ERR;
      impl.act(socket, events);
    });
  } catch (...) {
    impl.thrown_ = std::current_exception();
    return -1;
  }
  return 0;
}

int HttpClient::Impl::on_timer(CURLM*, long timeout_ms, void* self) {
  auto& impl = *static_cast<Impl*>(self);
  try {
    if (impl.timer_) impl.loop_.cancel(*impl.timer_);
    impl.timer_.reset();
    if (timeout_ms < 0) return 0;
    impl.timer_ = impl.loop_.after(static_cast<double>(timeout_ms) / 1e3, [&impl] {
      impl.timer_.reset();
      impl.act(CURL_SOCKET_TIMEOUT, 0);
    });
  } catch (...) {
    impl.thrown_ = std::current_exception();
    return -1;
  }
  return 0;
}

void HttpClient::Impl::add(Transfer& transfer) {
  transfer.added = true;
  inside_ = true;
  const CURLMcode code = curl_multi_add_handle(multi_, transfer.easy.get());
  inside_ = false;
  if (code != CURLM_OK) throw internal_error(std::string("libcurl: ") + curl_multi_strerror(code));
}

void HttpClient::Impl::act(curl_socket_t socket, int events) {
  int running = 0;
  inside_ = true;
  curl_multi_socket_action(multi_, socket, events, &running);
  inside_ = false;
  settle();
}

void HttpClient::Impl::settle() {
  for (int left = 0; CURLMsg* message = curl_multi_info_read(multi_, &left);) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    char* own = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &own);
    const auto at = transfers_.find(reinterpret_cast<Transfer*>(own)->call);
    if (at == transfers_.end()) continue;
    const std::unique_ptr<Transfer> transfer = std::move(at->second);
    transfers_.erase(at);
    curl_multi_remove_handle(multi_, transfer->easy.get());
    if (transfer->cancelled || !transfer->handlers.on_end) continue;
    HttpResponse response;
    response.status = transfer->easy.status();
    response.error = transfer->easy.error_text(code);
    response.retries = transfer->easy.retries();
    if (!thrown_) transfer->handlers.on_end(response, EventLoop::now_s());
  }
  const bool deferred = std::exchange(deferred_, false);
  for (auto at = transfers_.begin(); deferred && at != transfers_.end();) {
    if (at->second->cancelled) {
      if (at->second->added) curl_multi_remove_handle(multi_, at->second->easy.get());
      at = transfers_.erase(at);
    } else {
      if (!at->second->added) add(*at->second);
      ++at;
    }
  }
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

HttpClient::HttpClient(EventLoop& loop) : impl_(std::make_unique<Impl>(loop)) {
  start_libcurl();
  impl_->multi_ = curl_multi_init();
  if (!impl_->multi_) throw internal_error("libcurl gives no multi handle");
  curl_multi_setopt(impl_->multi_, CURLMOPT_SOCKETFUNCTION, &Impl::on_socket);
  curl_multi_setopt(impl_->multi_, CURLMOPT_SOCKETDATA, impl_.get());
  curl_multi_setopt(impl_->multi_, CURLMOPT_TIMERFUNCTION, &Impl::on_timer);
  curl_multi_setopt(impl_->multi_, CURLMOPT_TIMERDATA, impl_.get());
}

HttpClient::~HttpClient() = default;

const LogHistogram& HttpClient::read_wait_s() const { return impl_->read_wait_s_; }

HttpClient::Call HttpClient::start(const HttpRequest& request, Handlers handlers) {
  const Call call = impl_->next_call_++;
  auto transfer = std::make_unique<Transfer>(call, request);
  transfer->handlers = std::move(handlers);
  transfer->thrown = &impl_->thrown_;
  curl_easy_setopt(transfer->easy.get(), CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(transfer->easy.get(), CURLOPT_WRITEDATA, transfer.get());
  curl_easy_setopt(transfer->easy.get(), CURLOPT_PRIVATE, transfer.get());
  Transfer& kept = *(impl_->transfers_[call] = std::move(transfer));
  if (impl_->inside_) impl_->deferred_ = true;
  else impl_->add(kept);
  return call;
}

void HttpClient::cancel(Call call) {
  const auto at = impl_->transfers_.find(call);
  if (at == impl_->transfers_.end()) return;
  at->second->cancelled = true;
  if (impl_->inside_) {
    impl_->deferred_ = true;
    return;
  }
  if (at->second->added) curl_multi_remove_handle(impl_->multi_, at->second->easy.get());
  impl_->transfers_.erase(at);
}

}  // namespace hyperloom

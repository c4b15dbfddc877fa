// HTTP by libcurl: a blocking call for control traffic, and a streaming multi client on our event loop.
// HTTP/1.1, no proxy, no redirects. An HTTP error status is a value; so is a transport failure.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/event_loop.h"

namespace hyperloom {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::string body;
  std::vector<std::string> headers;      // "Name: value"
  double timeout_s = 30;
};

struct HttpResponse {
  int status = 0;                        // 0 = no response
  std::string body;
  std::string error;                     // transport failure in words, empty when none
  bool ok() const { return status >= 200 && status < 300 && error.empty(); }
};

HttpResponse http_call(const HttpRequest& request);

class HttpClient {
 public:
  explicit HttpClient(EventLoop& loop);
  ~HttpClient();

  struct Handlers {
    std::function<void(std::string_view bytes, double mono_s)> on_bytes;     // as they arrive
    std::function<void(const HttpResponse&, double mono_s)> on_end;          // body empty: it was streamed
  };
  using Call = uint64_t;
  Call start(const HttpRequest& request, Handlers handlers);
  void cancel(Call call);                // no further callback

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperloom

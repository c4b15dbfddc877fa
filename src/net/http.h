// HTTP by libcurl: a blocking call for control traffic, and a streaming multi client on our event loop.
// HTTP/1.1, no proxy, no redirects, no compression: an answer with a Content-Encoding is refused at its header (nobody
// asked for it, and it may be a bomb). An HTTP error status is a value; so is a transport failure.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_histogram.h"
#include "os/event_loop.h"

namespace hyperloom {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::string body;
  std::vector<std::string> headers;      // "Name: value"
  double timeout_s = 30;
  std::string ca_file;                   // PEM certificates to trust instead of the system's; empty = the system's
  bool insecure = false;                 // takes any certificate
};

struct HttpResponse {
  int status = 0;                        // 0 = no response
  std::string body;
  std::string error;                     // transport failure in words, empty when none
  int retries = 0;                       // sent again, once: a kept-alive connection died before a byte of the answer came
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
  // For each time that a connection had bytes for us: how long they may have waited, at most, in seconds.
  const LogHistogram& read_wait_s() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperloom

#include "net/http.h"

#include "net/curl_easy.h"

namespace hyperloom {

namespace {

constexpr size_t kMaxBodyBytes = size_t{64} << 20;   // control traffic is small: more is a runaway server

struct Sink {
  std::string body;
  bool too_long = false;
};

size_t on_body(char* bytes, size_t size, size_t count, void* context) {
  auto& sink = *static_cast<Sink*>(context);
  if (sink.body.size() + size * count > kMaxBodyBytes) {
    sink.too_long = true;
    return 0;
  }
  try {
    sink.body.append(bytes, size * count);
  } catch (const std::bad_alloc&) {   // nothing may unwind through C
    sink.too_long = true;
    return 0;
  }
  return size * count;
}

}  // namespace

HttpResponse http_call(const HttpRequest& request) {
  CurlEasy easy(request);
  Sink sink;
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &sink);
  const CURLcode code = curl_easy_perform(easy.get());
  HttpResponse response;
  response.status = easy.status();
  response.body = std::move(sink.body);
  response.retries = easy.retries();
  response.error = sink.too_long ? "the answer is longer than 64 MiB" : easy.error_text(code);
  return response;
}

}  // namespace hyperloom

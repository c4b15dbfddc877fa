#include "net/curl_easy.h"

#include <strings.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace hyperloom {

namespace {

constexpr double kConnectSeconds = 10;

bool names_content_type(const std::string& header) {
  return strncasecmp(header.c_str(), "content-type:", 13) == 0;
}

}  // namespace

void start_libcurl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_ALL);
  if (code != CURLE_OK) throw internal_error("libcurl does not start");
}

CurlEasy::CurlEasy(const HttpRequest& request)
    : url_(request.url), body_(request.body), headers_(nullptr, &curl_slist_free_all),
      easy_(nullptr, &curl_easy_cleanup) {
  start_libcurl();
  easy_.reset(curl_easy_init());
  if (!easy_) throw internal_error("libcurl gives no handle");
  CURL* easy = easy_.get();

  auto add_header = [this](const std::string& header) {
    curl_slist* longer = curl_slist_append(headers_.get(), header.c_str());
    if (!longer) throw internal_error("out of memory for an HTTP header");
    headers_.release();
    headers_.reset(longer);
  };
  for (const std::string& header : request.headers) add_header(header);
  add_header("Expect:");   // no 100-continue round trip in front of a long prompt
  if (!body_.empty() && std::none_of(request.headers.begin(), request.headers.end(),
                                     names_content_type)) {
    add_header("Content-Type: application/json");
  }

  curl_easy_setopt(easy, CURLOPT_URL, url_.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
  if (!body_.empty() || request.method == "POST") {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body_.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body_.size()));
  }
  if (request.method == "HEAD") curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (request.method != "GET" && request.method != "POST" && request.method != "HEAD") {
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
#if LIBCURL_VERSION_NUM >= 0x075000
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_send);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
#endif
  if (!request.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, request.ca_file.c_str());
  if (request.insecure) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  double connect_s = kConnectSeconds;
  if (request.timeout_s > 0) {
    connect_s = std::min(connect_s, request.timeout_s);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(request.timeout_s * 1e3)));
  }
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(connect_s * 1e3)));
}

// Compressed bytes are refused before the first of them is looked at.
size_t CurlEasy::on_header(char* bytes, size_t size, size_t count, void* self) {
  const std::string_view line(bytes, size * count);
  for (const char* name : {"content-encoding:", "transfer-encoding:"}) {
    const size_t length = std::strlen(name);
    if (line.size() < length || strncasecmp(line.data(), name, length) != 0) continue;
    const std::string value = trim(line.substr(length));
    if (strcasecmp(value.c_str(), "identity") == 0 || strcasecmp(value.c_str(), name[0] == 't' ? "chunked" : "") == 0) continue;
    static_cast<CurlEasy*>(self)->refused_ = "the answer is compressed (" + trim(line).substr(0, 100) +
                                             ") though nobody asked for that: switch it off at the server or its proxy";
    return 0;
  }
  return size * count;
}

// libcurl sends a request again when a connection that it used before turns out to be dead before anything came back.
// That is right once, on a fresh connection, and has to be told.
int CurlEasy::on_send(void* self, char*, char*, int, int) {
  auto& own = *static_cast<CurlEasy*>(self);
  if (++own.sent_ == 1) curl_easy_setopt(own.get(), CURLOPT_FRESH_CONNECT, 1L);   // for the next attempt, if there is one
  return CURL_PREREQFUNC_OK;
}

int CurlEasy::status() const {
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

std::string CurlEasy::error_text(CURLcode code) const {
  if (!refused_.empty()) return refused_;
  if (code == CURLE_OK) return "";
  return error_[0] ? error_ : curl_easy_strerror(code);
}

}  // namespace hyperloom

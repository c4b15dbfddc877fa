// What every transfer of ours has in common, and the owners of libcurl's handles.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "net/http.h"

namespace hyperloom {

void start_libcurl();   // once a process, by whichever thread is first; CurlEasy does it too

// One prepared easy handle. Stays where it is: libcurl keeps pointers into it.
class CurlEasy {
 public:
  explicit CurlEasy(const HttpRequest& request);
  CurlEasy(const CurlEasy&) = delete;

  CURL* get() const { return easy_.get(); }
  int status() const;                              // 0 = no response
  std::string error_text(CURLcode code) const;     // empty when CURLE_OK
  int retries() const { return sent_ > 1 ? sent_ - 1 : 0; }

 private:
  static size_t on_header(char* bytes, size_t size, size_t count, void* self);
  static int on_send(void* self, char*, char*, int, int);   // the request is about to go out on a connection

  std::string url_, body_, refused_;               // refused_: why we broke off, in words
  int sent_ = 0;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace hyperloom

// What the stamping server did: each request's arrival and sends, and the summary of them. Times in seconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

double now_s();
double cpu_s();                             // of this process, user and system

class StampLog {
 public:
  // `streams`: how many a closed loop will hold busy, 0 = unknown. Seconds to the first token, and between tokens (0 = unpaced).
  StampLog(int streams, double ttft_s, double interval_s) : streams_(streams), ttft_s_(ttft_s), interval_s_(interval_s) {}

  void any_request() { if (first_request_s_ == 0) first_request_s_ = now_s(); }
  int64_t arrived(uint32_t tokens_wanted);  // the last byte of a POST was read; returns its number
  // Tokens [from, to) of it were taken by the kernel now. `due_s`: when the schedule wanted that, 0 = no matter.
  void sent(int64_t request, uint32_t from, uint32_t to, double due_s);
  void ended() { --active_; }               // whole or not
  void blocked() { ++blocked_; }            // the client's socket was full

  double due_s(int64_t request, uint32_t token) const;
  // One JSON line on stdout, and words on stderr when it sent late itself.
  void print() const;
  // One JSON line a request: its arrival, then each token's send in microseconds after it. False: see errno.
  bool write(const std::string& file) const;

 private:
  struct Request { double arrived_s = 0, first_s = 0; uint32_t tokens = 0, first_stamp = 0; };
  std::vector<double> sorted_ms(bool itl) const;

  int streams_;
  double ttft_s_, interval_s_;
  std::vector<Request> requests_;
  std::vector<uint32_t> stamps_;            // microseconds after the arrival of their request
  double first_request_s_ = 0, first_post_s_ = 0, last_send_s_ = 0, cpu_at_first_s_ = 0, worst_late_s_ = 0;
  uint64_t tokens_ = 0, wanted_ = 0, sends_ = 0, late_ = 0, blocked_ = 0;
  int active_ = 0, most_active_ = 0;
  double full_s_ = 0, last_arrival_s_ = 0;  // (nearly) all streams busy for the first time; the last request came
  uint64_t tokens_at_full_ = 0, tokens_at_last_arrival_ = 0;
};

}  // namespace bench

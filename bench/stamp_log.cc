#include "stamp_log.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace bench {
namespace {

constexpr double kLate_s = 1e-3;
constexpr double kFull = 0.95;              // of the streams; not every client gets all of them busy at once
constexpr size_t kMostStamps = 50'000'000;
constexpr uint32_t kNoStamps = UINT32_MAX;
constexpr double kGoldenRatio = 0.6180339887498949;

void print_percentiles(const char* name, const std::vector<double>& sorted) {
  const auto at = [&](double p) { return sorted.empty() ? 0.0 : sorted[static_cast<size_t>(p * static_cast<double>(sorted.size() - 1))]; };
  std::printf(",\"%s\":{\"p50\":%.4f,\"p90\":%.4f,\"p99\":%.4f,\"max\":%.4f}", name, at(0.5), at(0.9), at(0.99), at(1));
}

}  // namespace

double now_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int64_t StampLog::arrived(uint32_t tokens_wanted) {
  Request r;
  r.arrived_s = last_arrival_s_ = now_s();
  r.first_stamp = static_cast<uint32_t>(stamps_.size());
  if (stamps_.size() + tokens_wanted <= kMostStamps) stamps_.resize(stamps_.size() + tokens_wanted);
  else r.first_stamp = kNoStamps;
  if (first_post_s_ == 0) first_post_s_ = r.arrived_s, cpu_at_first_s_ = cpu_s();
  most_active_ = std::max(most_active_, ++active_);
  if (streams_ > 0 && active_ >= kFull * streams_ && full_s_ == 0) full_s_ = r.arrived_s, tokens_at_full_ = tokens_;
  tokens_at_last_arrival_ = tokens_;
  wanted_ += tokens_wanted;
  requests_.push_back(r);
  return static_cast<int64_t>(requests_.size()) - 1;
}

// After the first token a stream keeps a phase of its own, so that streams which began together do not stay in step.
double StampLog::due_s(int64_t request, uint32_t token) const {
  const double phase = std::fmod(static_cast<double>(request) * kGoldenRatio, 1.0);
  return requests_[static_cast<size_t>(request)].arrived_s + ttft_s_ + (token > 0 ? token + phase : 0) * interval_s_;
}

void StampLog::sent(int64_t request, uint32_t from, uint32_t to, double due_s) {
  const double now = last_send_s_ = now_s();
  Request& r = requests_[static_cast<size_t>(request)];
  if (r.first_s == 0) r.first_s = now;
  r.tokens = to;
  tokens_ += to - from;
  ++sends_;
  for (uint32_t i = from; i < to && r.first_stamp != kNoStamps; ++i) stamps_[r.first_stamp + i] = static_cast<uint32_t>((now - r.arrived_s) * 1e6);
  if (interval_s_ == 0 || due_s == 0) return;
  late_ += now - due_s > kLate_s;
  worst_late_s_ = std::max(worst_late_s_, now - due_s);
}

// Times to first token, or the gaps between the tokens of each request.
std::vector<double> StampLog::sorted_ms(bool itl) const {
  std::vector<double> out;
  for (const Request& r : requests_) {
    if (r.first_s == 0) continue;
    if (!itl) out.push_back((r.first_s - r.arrived_s) * 1e3);
    for (uint32_t i = 1; itl && r.first_stamp != kNoStamps && i < r.tokens; ++i)
      out.push_back((stamps_[r.first_stamp + i] - stamps_[r.first_stamp + i - 1]) * 1e-3);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void StampLog::print() const {
  const auto sends = static_cast<double>(std::max<uint64_t>(1, sends_));
  std::printf("{\"requests\":%zu,\"tokens\":%llu,\"first_request_s\":%.6f,\"first_post_s\":%.6f,\"last_send_s\":%.6f,\"most_active\":%d", requests_.size(),
              static_cast<unsigned long long>(tokens_), first_request_s_, first_post_s_, last_send_s_, most_active_);
  // A closed loop, from all streams busy to the last request, that is before the drain; offered = if no client lost time.
  const double window = last_arrival_s_ - full_s_;
  if (full_s_ > 0 && window > 0 && interval_s_ > 0) {
    const double tokens = static_cast<double>(wanted_) / static_cast<double>(requests_.size());
    const double offered = streams_ * tokens / (ttft_s_ + (tokens - 0.5) * interval_s_);
    const double rate = static_cast<double>(tokens_at_last_arrival_ - tokens_at_full_) / window;
    std::printf(",\"window_s\":%.6f,\"tok_s\":%.1f,\"offered_tok_s\":%.1f,\"kept_share\":%.4f", window, rate, offered, rate / offered);
  }
  print_percentiles("ttft_ms", sorted_ms(false));
  print_percentiles("itl_ms", sorted_ms(true));
  std::printf(",\"sends\":%llu,\"late_share\":%.6f,\"worst_late_ms\":%.3f,\"blocked_sends\":%llu,\"own_cpu_share\":%.4f}\n",
              static_cast<unsigned long long>(sends_), static_cast<double>(late_) / sends, worst_late_s_ * 1e3,
              static_cast<unsigned long long>(blocked_), (cpu_s() - cpu_at_first_s_) / std::max(1e-9, last_send_s_ - first_post_s_));
  if (static_cast<double>(late_) > 0.01 * sends)
    std::fprintf(stderr, "stamp_server: %.1f %% of the sends went out more than 1 ms late\n", 100 * static_cast<double>(late_) / sends);
}

bool StampLog::write(const std::string& name) const {
  FILE* file = std::fopen(name.c_str(), "w");
  if (!file) return false;
  for (const Request& r : requests_) {
    std::fprintf(file, "{\"arrived_s\":%.6f,\"sent_us\":[", r.arrived_s);
    for (uint32_t i = 0; r.first_stamp != kNoStamps && i < r.tokens; ++i) std::fprintf(file, i ? ",%u" : "%u", stamps_[r.first_stamp + i]);
    std::fprintf(file, "]}\n");
  }
  return std::fclose(file) == 0;
}

}  // namespace bench

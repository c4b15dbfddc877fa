// measure_bandwidth_gb_s and measure_peak_gflop_s of os/machine.h.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "os/event_loop.h"
#include "os/kernels.h"
#include "os/machine.h"
#include "os/machine_parse.h"

namespace hyperloom {
namespace {

constexpr double kPassS =
    0.05;  // long enough that a late wake-up is noise, short enough to find a calm moment
constexpr double kBudgetS = 0.8;
constexpr size_t kGrain = 4096;  // slices are whole pages, so no two threads share one

std::atomic<uint64_t> sink{0};  // results end here, so that no work can be optimised away

struct Span {
  double start = 0, end = 0;
};

// Runs `work(thread, rounds)` on all threads at once, first once round to learn how long one takes,
// then in passes of about kPassS until the budget is spent. Gives the best of rounds a second, over
// all threads.
double best_rounds_per_s(int threads, const std::function<void(int)>& prepare,
                         const std::function<void(int, uint64_t)>& work) {
  std::vector<Span> spans(static_cast<size_t>(threads));
  uint64_t rounds = 1;
  double best = 0;
  bool done = false;
  double spent_until = 0;
  // Runs while all threads wait: judges the pass behind and plans the one ahead.
  const auto between = [&]() noexcept {
    double start = spans[0].start, end = spans[0].end;
    for (const Span& span : spans)
      start = std::min(start, span.start), end = std::max(end, span.end);
    const double now = EventLoop::now_s();
    if (end <= start) {  // before the first pass
      spent_until = now + kBudgetS;
      return;
    }
    const double seconds = std::max(end - start, 1e-9);
    if (seconds >= kPassS / 4 || rounds > 1)
      best = std::max(best, static_cast<double>(rounds) / seconds);
    const double wanted = kPassS / seconds * static_cast<double>(rounds);
    rounds = static_cast<uint64_t>(std::clamp(wanted, 1.0, 64.0 * static_cast<double>(rounds)));
    done = now >= spent_until;
  };
  std::barrier gate(threads, between);
  const auto run = [&](int thread) {
    prepare(thread);
    gate.arrive_and_wait();
    while (!done) {
      Span& span = spans[static_cast<size_t>(thread)];
      span.start = EventLoop::now_s();
      work(thread, rounds);
      span.end = EventLoop::now_s();
      gate.arrive_and_wait();
    }
  };
  std::vector<std::jthread> pool;
  for (int thread = 1; thread < threads; ++thread) pool.emplace_back(run, thread);
  run(0);
  return best;
}

std::string slurp(const char* file) {
  std::ifstream in(file);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes) {
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      throw internal_error("no memory for a buffer of " + std::to_string(bytes) +
                           " bytes: " + std::strerror(errno));
    }
    ::madvise(data_, bytes, MADV_HUGEPAGE);  // else page walks limit it, not memory
  }
  ~Buffer() { ::munmap(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_;
  size_t bytes_;
};

}  // namespace

double measure_bandwidth_gb_s(uint64_t working_set_bytes, int threads) {
  threads = std::max(1, threads);
  const uint64_t available = parse_meminfo(slurp("/proc/meminfo"), "MemAvailable");
  const uint64_t caches = parse_size(slurp("/sys/devices/system/cpu/cpu0/cache/index3/size"));
  // Each thread may have a cache of its own. No more than needed: a virtual machine's first touch of a page
  // can cost more than all reads of it.
  const uint64_t beyond_caches = std::clamp(4 * caches * static_cast<uint64_t>(threads),
                                            uint64_t{256} << 20, uint64_t{2} << 30);
  uint64_t bytes = std::min(working_set_bytes, beyond_caches);
  if (available > 0) bytes = std::min(bytes, available / 2);
  const size_t slice = std::max<size_t>(bytes / static_cast<size_t>(threads) / kGrain, 1) * kGrain;
  const Buffer buffer(slice * static_cast<size_t>(threads));
  const auto slice_of = [&](int thread) {
    return buffer.data() + slice * static_cast<size_t>(thread);
  };
  const double rounds = best_rounds_per_s(
      threads,
      // Written by who reads it: pages lie in its own NUMA node, and are not all the one zero page.
      [&](int thread) { std::memset(slice_of(thread), thread + 1, slice); },
      [&](int thread, uint64_t count) {
        uint64_t mix = 0;
        for (uint64_t i = 0; i < count; ++i) mix ^= read_all(slice_of(thread), slice);
        sink.fetch_xor(mix, std::memory_order_relaxed);
      });
  return rounds * static_cast<double>(slice) * threads * 1e-9;
}

double measure_peak_gflop_s(int threads) {
  threads = std::max(1, threads);
  const PeakKernel kernel = widest_peak_kernel();
  constexpr uint64_t kChunk = 10000;  // the unit of work: some microseconds
  const double chunks = best_rounds_per_s(
      threads, [](int) {},
      [&](int, uint64_t count) {
        const float result = kernel.run(count * kChunk);
        sink.fetch_xor(static_cast<uint64_t>(result), std::memory_order_relaxed);
      });
  return chunks * static_cast<double>(kChunk) * kernel.flops_per_round * threads * 1e-9;
}

}  // namespace hyperloom

#include "os/speed_probe.h"

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace hyperloom {
namespace {

constexpr int kSteps = 60'000, kRuns = 2;

double cpu_time_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double probe_speed_msteps_s() {
  double best = 0;
  uint64_t x = 1;
  for (int run = 0; run < kRuns; ++run) {
    const double begun_s = cpu_time_s();
    // Each step waits for the last one: no width of the core helps, only its clock. The empty asm
    // keeps the compiler from folding steps.
    for (int i = 0; i < kSteps; ++i) {
      x = x * 6364136223846793005ull + 1442695040888963407ull;
      asm volatile("" : "+r"(x));
    }
    const double took_s = cpu_time_s() - begun_s;
    if (took_s > 0) best = std::max(best, 1e-6 * kSteps / took_s);
  }
  return best;
}

}  // namespace hyperloom

// The innermost loops that roofs.cc times. Built with optimisation whatever the build type, and for
// several instruction sets in one file; which one runs is decided at run time, so that no machine
// meets an instruction that it lacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hyperloom {

// Reads all of `bytes` (a multiple of 256, 64-byte aligned); the result only keeps the reads from
// vanishing.
uint64_t read_all(const void* data, size_t bytes);

struct PeakKernel {
  const char* name;        // "avx512f", "avx2+fma", "sse2", "neon", "portable"
  double flops_per_round;  // a multiply-add counts 2
  float (*run)(uint64_t rounds);
};
PeakKernel widest_peak_kernel();  // that this CPU and its operating system support

}  // namespace hyperloom

#include "os/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// Measured at -O0 these loops would show the compiler, not the machine. GCC only: clang builds are
// for fuzzing.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#define HYPERLOOM_KERNEL __attribute__((noinline, no_sanitize("address", "undefined")))

namespace hyperloom {
namespace {

// Independent chains hide the latency of a multiply-add (4 or 5 cycles, two a cycle): at least 10
// are needed, and all must fit the registers (16 of SSE and AVX, 32 of AVX-512 and NEON). The
// factor is below 1, so that the values neither overflow nor become denormal, which would be slow.
constexpr float kFactor = 0.999f, kAddend = 0.001f;

#if defined(__x86_64__)

__attribute__((target("avx512f"))) HYPERLOOM_KERNEL float peak_avx512(uint64_t rounds) {
  const __m512 factor = _mm512_set1_ps(kFactor), addend = _mm512_set1_ps(kAddend);
  __m512 a0 = addend, a1 = addend, a2 = addend, a3 = addend, a4 = addend, a5 = addend, a6 = addend,
         a7 = addend;
  __m512 b0 = addend, b1 = addend, b2 = addend, b3 = addend, b4 = addend, b5 = addend, b6 = addend,
         b7 = addend;
  for (uint64_t i = 0; i < rounds; ++i) {
    a0 = _mm512_fmadd_ps(a0, factor, addend), a1 = _mm512_fmadd_ps(a1, factor, addend);
    a2 = _mm512_fmadd_ps(a2, factor, addend), a3 = _mm512_fmadd_ps(a3, factor, addend);
    a4 = _mm512_fmadd_ps(a4, factor, addend), a5 = _mm512_fmadd_ps(a5, factor, addend);
    a6 = _mm512_fmadd_ps(a6, factor, addend), a7 = _mm512_fmadd_ps(a7, factor, addend);
    b0 = _mm512_fmadd_ps(b0, factor, addend), b1 = _mm512_fmadd_ps(b1, factor, addend);
    b2 = _mm512_fmadd_ps(b2, factor, addend), b3 = _mm512_fmadd_ps(b3, factor, addend);
    b4 = _mm512_fmadd_ps(b4, factor, addend), b5 = _mm512_fmadd_ps(b5, factor, addend);
    b6 = _mm512_fmadd_ps(b6, factor, addend), b7 = _mm512_fmadd_ps(b7, factor, addend);
    // The chains hold equal values: without this the compiler would compute one of them.
    __asm__ volatile(""
                     : "+v"(a0), "+v"(a1), "+v"(a2), "+v"(a3), "+v"(a4), "+v"(a5), "+v"(a6),
                       "+v"(a7));
    __asm__ volatile(""
                     : "+v"(b0), "+v"(b1), "+v"(b2), "+v"(b3), "+v"(b4), "+v"(b5), "+v"(b6),
                       "+v"(b7));
  }
  return _mm512_cvtss_f32(a0) + _mm512_cvtss_f32(b7);
}

__attribute__((target("avx2,fma"))) HYPERLOOM_KERNEL float peak_avx2(uint64_t rounds) {
  const __m256 factor = _mm256_set1_ps(kFactor), addend = _mm256_set1_ps(kAddend);
  __m256 a0 = addend, a1 = addend, a2 = addend, a3 = addend, a4 = addend, a5 = addend;
  __m256 b0 = addend, b1 = addend, b2 = addend, b3 = addend, b4 = addend, b5 = addend;
  for (uint64_t i = 0; i < rounds; ++i) {
    a0 = _mm256_fmadd_ps(a0, factor, addend), a1 = _mm256_fmadd_ps(a1, factor, addend);
    a2 = _mm256_fmadd_ps(a2, factor, addend), a3 = _mm256_fmadd_ps(a3, factor, addend);
    a4 = _mm256_fmadd_ps(a4, factor, addend), a5 = _mm256_fmadd_ps(a5, factor, addend);
    b0 = _mm256_fmadd_ps(b0, factor, addend), b1 = _mm256_fmadd_ps(b1, factor, addend);
    b2 = _mm256_fmadd_ps(b2, factor, addend), b3 = _mm256_fmadd_ps(b3, factor, addend);
    b4 = _mm256_fmadd_ps(b4, factor, addend), b5 = _mm256_fmadd_ps(b5, factor, addend);
    __asm__ volatile("" : "+x"(a0), "+x"(a1), "+x"(a2), "+x"(a3), "+x"(a4), "+x"(a5));
    __asm__ volatile("" : "+x"(b0), "+x"(b1), "+x"(b2), "+x"(b3), "+x"(b4), "+x"(b5));
  }
  return _mm256_cvtss_f32(a0) + _mm256_cvtss_f32(b5);
}

HYPERLOOM_KERNEL float peak_sse2(
    uint64_t rounds) {  // a multiply and an add, for want of one that does both
  const __m128 factor = _mm_set1_ps(kFactor), addend = _mm_set1_ps(kAddend);
  __m128 a0 = addend, a1 = addend, a2 = addend, a3 = addend, a4 = addend;
  __m128 b0 = addend, b1 = addend, b2 = addend, b3 = addend, b4 = addend;
  for (uint64_t i = 0; i < rounds; ++i) {
    a0 = _mm_add_ps(_mm_mul_ps(a0, factor), addend),
    a1 = _mm_add_ps(_mm_mul_ps(a1, factor), addend);
    a2 = _mm_add_ps(_mm_mul_ps(a2, factor), addend),
    a3 = _mm_add_ps(_mm_mul_ps(a3, factor), addend);
    a4 = _mm_add_ps(_mm_mul_ps(a4, factor), addend),
    b0 = _mm_add_ps(_mm_mul_ps(b0, factor), addend);
    b1 = _mm_add_ps(_mm_mul_ps(b1, factor), addend),
    b2 = _mm_add_ps(_mm_mul_ps(b2, factor), addend);
    b3 = _mm_add_ps(_mm_mul_ps(b3, factor), addend),
    b4 = _mm_add_ps(_mm_mul_ps(b4, factor), addend);
    __asm__ volatile("" : "+x"(a0), "+x"(a1), "+x"(a2), "+x"(a3), "+x"(a4));
    __asm__ volatile("" : "+x"(b0), "+x"(b1), "+x"(b2), "+x"(b3), "+x"(b4));
  }
  return _mm_cvtss_f32(a0) + _mm_cvtss_f32(b4);
}

#else

#if defined(__aarch64__)
using Lanes = float32x4_t;
inline Lanes multiply_add(Lanes a, Lanes factor, Lanes addend) {
  return vfmaq_f32(addend, a, factor);
}
constexpr const char* kPortableName = "neon";
#else
typedef float Lanes __attribute__((vector_size(16)));
inline Lanes multiply_add(Lanes a, Lanes factor, Lanes addend) { return a * factor + addend; }
constexpr const char* kPortableName = "portable";
#endif

HYPERLOOM_KERNEL float peak_portable(uint64_t rounds) {
  const Lanes factor = {kFactor, kFactor, kFactor, kFactor};
  // Chains that start apart from each other, so that the compiler cannot fold them into one.
  Lanes chains[16];
  for (int c = 0; c < 16; ++c) chains[c] = factor * static_cast<float>(c);
  const Lanes addend = {kAddend, kAddend, kAddend, kAddend};
  for (uint64_t i = 0; i < rounds; ++i) {
    for (int c = 0; c < 16; ++c) chains[c] = multiply_add(chains[c], factor, addend);
  }
  float sum = 0;
  for (int c = 0; c < 16; ++c) sum += chains[c][0] + chains[c][1] + chains[c][2] + chains[c][3];
  return sum;
}

#endif

// Eight lanes of eight bytes: the compiler splits them into what the target has.
typedef uint64_t Block __attribute__((vector_size(64), may_alias));

#define HYPERLOOM_READ_LOOP                                                 \
  const Block* at = static_cast<const Block*>(data);                        \
  const Block* const end = at + bytes / sizeof(Block);                      \
  Block a = {}, b = {}, c = {}, d = {};                                     \
  for (; at < end; at += 4) a ^= at[0], b ^= at[1], c ^= at[2], d ^= at[3]; \
  a ^= b ^ c ^ d;                                                           \
  return a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] ^ a[5] ^ a[6] ^ a[7];

#if defined(__x86_64__)
__attribute__((target("avx512f"))) HYPERLOOM_KERNEL uint64_t read_avx512(const void* data,
                                                                         size_t bytes) {
  HYPERLOOM_READ_LOOP
}
__attribute__((target("avx2"))) HYPERLOOM_KERNEL uint64_t read_avx2(const void* data, size_t bytes){
    HYPERLOOM_READ_LOOP}
#endif
HYPERLOOM_KERNEL uint64_t read_plain(const void* data, size_t bytes) {
  HYPERLOOM_READ_LOOP
}

}  // namespace

uint64_t read_all(const void* data, size_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_avx512(data, bytes);
  if (__builtin_cpu_supports("avx2")) return read_avx2(data, bytes);
#endif
  return read_plain(data, bytes);
}

PeakKernel widest_peak_kernel() {
#if defined(__x86_64__)
  // __builtin_cpu_supports also asks whether the operating system saves the wide registers.
  if (__builtin_cpu_supports("avx512f")) return {"avx512f", 16 * 16 * 2, peak_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"avx2+fma", 12 * 8 * 2, peak_avx2};
  return {"sse2", 10 * 4 * 2, peak_sse2};
#else
  return {kPortableName, 16 * 4 * 2, peak_portable};
#endif
}

}  // namespace hyperloom

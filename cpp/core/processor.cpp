#include "core/processor.h"

#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
#include <intrin.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pc {

namespace {

bool ask_processor() {
#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
  constexpr int kAvx2AndBits = 1 << 5 | 1 << 3 | 1 << 8;  // leaf 7: AVX2, BMI1, BMI2
  int leaf[4];
  __cpuid(leaf, 1);
  const bool saves_ymm = (leaf[2] >> 27 & 1) != 0 && (_xgetbv(0) & 6) == 6;
  __cpuidex(leaf, 7, 0);
  const bool avx2_and_bits = (leaf[1] & kAvx2AndBits) == kAvx2AndBits;
  __cpuid(leaf, static_cast<int>(0x80000001));
  return saves_ymm && avx2_and_bits && (leaf[2] >> 5 & 1) != 0;  // LZCNT
#elif defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c >> 5 & 1) != 0;
  return lzcnt && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
#else
  return false;
#endif
}

}  // namespace

bool has_avx2() {
  static const bool supported = ask_processor();
  return supported;
}

}  // namespace pc

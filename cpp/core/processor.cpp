#include "core/processor.h"

#if defined(_MSC_VER) && !defined(__clang__) && defined(_M_X64)
#include <intrin.h>
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
  return saves_ymm && (leaf[1] & kAvx2AndBits) == kAvx2AndBits;
#elif defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
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

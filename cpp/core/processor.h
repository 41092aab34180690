#pragma once

namespace pc {

/// True if the processor and the operating system support AVX2 and the bit instructions that came with it: BMI1, BMI2, LZCNT.
bool has_avx2();

}  // namespace pc

#pragma once

namespace pc {

/// True if the processor and the operating system support AVX2 and the bit instructions that came with it.
bool has_avx2();

}  // namespace pc

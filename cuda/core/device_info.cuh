#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::probe.
GpuStatus probe(GpuProbe* out, GpuError* error);
/// GpuTable::memory.
GpuStatus memory(std::uint64_t* free_bytes, std::uint64_t* total_bytes, GpuError* error);

}  // namespace pc::cuda

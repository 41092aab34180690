#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::voxel_count.
GpuStatus voxel_count(const voxel_count_kernel::HostPass* host, const GpuControl* control, GpuError* error);

}  // namespace pc::cuda

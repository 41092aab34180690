#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::icp_pairs.
GpuStatus icp_pairs(const icp_pairs_kernel::HostPass* host, const GpuControl* control, GpuError* error);

}  // namespace pc::cuda

#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::open_sides.
GpuStatus open_sides(const icp_pairs_kernel::HostSides* host, const GpuControl* control, void** sides,
                     GpuError* error);
/// GpuTable::icp_pairs.
GpuStatus icp_pairs(void* sides, const icp_pairs_kernel::HostPass* pass, const GpuControl* control,
                    GpuError* error);
/// GpuTable::close_sides.
void close_sides(void* sides);

}  // namespace pc::cuda

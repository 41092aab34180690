#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::closest_triangles.
GpuStatus closest_triangles(const point_to_mesh_kernel::HostPass* host, const GpuControl* control,
                            GpuError* error);

}  // namespace pc::cuda

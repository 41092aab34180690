#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::point_spacing_pass.
GpuStatus point_spacing_pass(const point_spacing_kernel::HostPass* host, const GpuControl* control,
                             GpuError* error);

}  // namespace pc::cuda

#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::radius_outlier.
GpuStatus radius_outlier(const radius_outlier_kernel::HostPass* host, const GpuControl* control,
                         GpuError* error);

}  // namespace pc::cuda

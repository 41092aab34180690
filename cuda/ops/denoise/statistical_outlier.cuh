#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::mean_distances.
GpuStatus mean_distances(const statistical_outlier_kernel::HostPass* host, const GpuControl* control,
                         GpuError* error);

}  // namespace pc::cuda

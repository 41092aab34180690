#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::cloth_raster.
GpuStatus cloth_raster(const cloth_kernel::HostRaster* raster, const GpuControl* control, GpuError* error);
/// GpuTable::cloth_drop.
GpuStatus cloth_drop(cloth_kernel::HostDrop* drop, const GpuControl* control, GpuError* error);

}  // namespace pc::cuda

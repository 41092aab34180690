#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::open_scene.
GpuStatus open_scene(const scene_trace_kernel::HostScene* host, const GpuControl* control, void** scene,
                     GpuError* error);
/// GpuTable::scene_hits.
GpuStatus scene_hits(void* scene, const scene_trace_kernel::HostRays* rays, const GpuControl* control,
                     GpuError* error);
/// GpuTable::close_scene.
void close_scene(void* scene);

}  // namespace pc::cuda

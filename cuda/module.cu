#include "core/device_info.cuh"
#include "core/gpu_table.h"
#include "ops/cloud/point_spacing.cuh"
#include "ops/denoise/radius_outlier.cuh"
#include "ops/denoise/statistical_outlier.cuh"
#include "ops/denoise/voxel_count.cuh"
#include "ops/ground/cloth_simulation.cuh"
#include "ops/lad/beam_sums.cuh"
#include "ops/ray/scene_trace.cuh"
#include "ops/registration/icp_pairs.cuh"
#include "ops/registration/point_to_mesh_distance.cuh"

#if defined(_WIN32)
#define PC_GPU_EXPORT __declspec(dllexport)
#else
#define PC_GPU_EXPORT __attribute__((visibility("default")))
#endif

/// The one exported symbol: see GpuTableFunction.
extern "C" PC_GPU_EXPORT const pc::GpuTable* pc_gpu_table() {
  static const pc::GpuTable table{
      pc::kGpuAbiVersion,    sizeof(pc::GpuTable),         pc::cuda::probe,
      pc::cuda::memory,      pc::cuda::point_spacing_pass, pc::cuda::cloth_raster,
      pc::cuda::cloth_drop,  pc::cuda::radius_outlier,     pc::cuda::mean_distances,
      pc::cuda::voxel_count, pc::cuda::closest_triangles,  pc::cuda::open_sides,
      pc::cuda::icp_pairs,   pc::cuda::close_sides,        pc::cuda::open_scene,
      pc::cuda::scene_hits,  pc::cuda::close_scene,        pc::cuda::open_beam_sums,
      pc::cuda::add_beams,   pc::cuda::read_beam_sums,     pc::cuda::close_beam_sums};
  return &table;
}

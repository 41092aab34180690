#pragma once
#include <cstdint>

/// The C interface of the CUDA module (pc_cuda): plain structs and function pointers, no exceptions, no STL types. Both
/// sides compile this header; the host rejects a module with another kGpuAbiVersion or table size.
namespace pc {

namespace point_spacing_kernel {
struct HostPass;
}
namespace cloth_kernel {
struct HostRaster;
struct HostDrop;
}  // namespace cloth_kernel
namespace radius_outlier_kernel {
struct HostPass;
}
namespace statistical_outlier_kernel {
struct HostPass;
}
namespace voxel_count_kernel {
struct HostPass;
}
namespace point_to_mesh_kernel {
struct HostPass;
}
namespace icp_pairs_kernel {
struct HostSides;
struct HostPass;
}  // namespace icp_pairs_kernel
namespace scene_trace_kernel {
struct HostScene;
struct HostRays;
}  // namespace scene_trace_kernel
namespace beam_sums_kernel {
struct HostGrid;
struct HostBeams;
struct HostCells;
}  // namespace beam_sums_kernel

constexpr std::uint32_t kGpuAbiVersion = 11;
constexpr std::uint32_t kGpuErrorBytes = 512;

enum class GpuStatus : std::int32_t { kOk = 0, kCanceled = 1, kOutOfMemory = 2, kFailed = 3 };

/// Text for the user, always zero-terminated.
struct GpuError {
  char text[kGpuErrorBytes];
};

/// Progress and cancel of the op's job, and its threads; used from the calling thread only.
struct GpuControl {
  void* user;
  bool (*canceled)(void* user);
  void (*advance)(void* user, std::uint64_t count);
  /// Like memcpy, with the threads of the op: one core does not keep a PCIe link busy.
  void (*copy)(void* user, void* to, const void* from, std::uint64_t bytes);
};

/// Result of the probe. If device_count is 0, GpuError holds the reason.
struct GpuProbe {
  std::int32_t device_count;
  std::int32_t
      driver_version;  ///< highest CUDA version the driver supports, 1000 major + 10 minor; 0 = no driver
  std::int32_t runtime_version;     ///< CUDA version the module was built with
  std::int32_t compute_capability;  ///< of the first device, 10 major + minor
  std::uint64_t total_bytes;        ///< memory of the first device
  char name[256];                   ///< of the first device
};

struct GpuTable {
  std::uint32_t abi_version;  ///< kGpuAbiVersion of the module; first member in every version
  std::uint32_t table_bytes;  ///< sizeof(GpuTable) of the module

  /// Fast: queries the driver and the first device without creating a context. kFailed leaves device_count 0.
  GpuStatus (*probe)(GpuProbe* out, GpuError* error);
  /// Free and total memory of the first device, bytes; creates the context.
  GpuStatus (*memory)(std::uint64_t* free_bytes, std::uint64_t* total_bytes, GpuError* error);
  /// One pass of point_spacing (cpp/ops/cloud/point_spacing_kernel.h). Changes `pass->best_bits` on kOk only.
  GpuStatus (*point_spacing_pass)(const point_spacing_kernel::HostPass* pass, const GpuControl* control,
                                  GpuError* error);
  /// RasterPass (cpp/ops/ground/cloth_simulation_kernel.h). Changes `nearest` on kOk only.
  GpuStatus (*cloth_raster)(const cloth_kernel::HostRaster* raster, const GpuControl* control,
                            GpuError* error);
  /// Drops a cloth. Changes the outputs of `drop` on kOk only.
  GpuStatus (*cloth_drop)(cloth_kernel::HostDrop* drop, const GpuControl* control, GpuError* error);
  /// Labels of the points of a tree (cpp/ops/denoise/radius_outlier_kernel.h). Changes `pass->labels` on kOk only.
  GpuStatus (*radius_outlier)(const radius_outlier_kernel::HostPass* pass, const GpuControl* control,
                              GpuError* error) = nullptr;
  /// Mean neighbour distances of the points of a tree (cpp/ops/denoise/statistical_outlier_kernel.h). Changes
  /// `pass->means` on kOk only.
  GpuStatus (*mean_distances)(const statistical_outlier_kernel::HostPass* pass, const GpuControl* control,
                              GpuError* error) = nullptr;
  /// Labels points by cells of a grid (cpp/ops/denoise/voxel_count_kernel.h). Changes `pass->labels` on kOk only.
  GpuStatus (*voxel_count)(const voxel_count_kernel::HostPass* pass, const GpuControl* control,
                           GpuError* error) = nullptr;
  /// The closest triangles of points (cpp/ops/registration/point_to_mesh_kernel.h). `pass->found` is unspecified unless kOk.
  GpuStatus (*closest_triangles)(const point_to_mesh_kernel::HostPass* pass, const GpuControl* control,
                                 GpuError* error) = nullptr;
  /// Copies two sides of a registration to the device (cpp/ops/registration/icp_pairs_kernel.h). `*sides` is set on kOk only;
  /// it is given to close_sides once.
  GpuStatus (*open_sides)(const icp_pairs_kernel::HostSides* host, const GpuControl* control, void** sides,
                          GpuError* error) = nullptr;
  /// The nearest points of the other side. `pass->slot` and `pass->squared` are unspecified unless kOk.
  GpuStatus (*icp_pairs)(void* sides, const icp_pairs_kernel::HostPass* pass, const GpuControl* control,
                         GpuError* error) = nullptr;
  void (*close_sides)(void* sides) = nullptr;
  /// Copies a scene of rays to the device (cpp/ops/ray/scene_trace_kernel.h). `*scene` is set on kOk only; it is given to
  /// close_scene once.
  GpuStatus (*open_scene)(const scene_trace_kernel::HostScene* host, const GpuControl* control, void** scene,
                          GpuError* error) = nullptr;
  /// The first hits of rays. They are unspecified unless kOk. Any number of threads at once.
  GpuStatus (*scene_hits)(void* scene, const scene_trace_kernel::HostRays* rays, const GpuControl* control,
                          GpuError* error) = nullptr;
  void (*close_scene)(void* scene) = nullptr;
  /// Makes sums of beams over voxels, all 0 (cpp/ops/lad/beam_sums_kernel.h). `*sums` is set on kOk only; it is given to
  /// close_beam_sums once.
  GpuStatus (*open_beam_sums)(const beam_sums_kernel::HostGrid* host, const GpuControl* control, void** sums,
                              GpuError* error) = nullptr;
  /// Adds beams in their order. The sums are unspecified unless kOk.
  GpuStatus (*add_beams)(void* sums, const beam_sums_kernel::HostBeams* beams, const GpuControl* control,
                         GpuError* error) = nullptr;
  GpuStatus (*read_beam_sums)(void* sums, const beam_sums_kernel::HostCells* cells, const GpuControl* control,
                              GpuError* error) = nullptr;
  void (*close_beam_sums)(void* sums) = nullptr;
};

/// The one symbol of the module, `pc_gpu_table`.
using GpuTableFunction = const GpuTable* (*)();
constexpr const char* kGpuTableSymbol = "pc_gpu_table";

}  // namespace pc

#pragma once
#include "binding/column_handle.h"
#include "ops/mesh/voxel_cells.h"

namespace pc::binding {

/// A grid of voxels with its lists, kept alive for a job.
struct HeldVoxelBox {
  VoxelBox box;
  ColumnPtr offsets, kept;
  VoxelBox view() const;
};

/// { center, size, nx, ny, nz, rotation_deg, offsets: f64 | null, kept: u8 | null }
HeldVoxelBox held_voxel_box(const Napi::Value& value);

}  // namespace pc::binding

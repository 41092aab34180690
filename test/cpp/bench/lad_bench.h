#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/vec3.h"
#include "ops/lad/beam_traversal.h"

namespace pc::bench {

/// Four scans of a cube of leaves, each from 3 m away.
class LeafCube {
 public:
  LeafCube(std::size_t pulses, OpContext& ctx);

  /// Valid as long as this object.
  std::vector<BeamScan> beams() const;
  /// The cube in edge^3 voxels.
  static VoxelBox grid(std::uint32_t edge);

 private:
  /// Pulses in the order of the scanner's raster: their free paths follow Beer's law.
  struct Scan {
    BulkVector<Vec3d> positions;
    Vec3d origin;
    AnyColumn missed;
  };
  static Scan scan_of(std::size_t number, std::size_t pulses, OpContext& ctx);

  std::vector<Scan> scans_;
};

}  // namespace pc::bench

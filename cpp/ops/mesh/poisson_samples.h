#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/mesh/poisson_octree.h"
#include "spatial/kd_tree.h"

namespace pc::poisson_detail {

/// Neighbours from which the area of a sample is estimated, and that measure its spacing.
constexpr std::uint32_t kDensityNeighbors = 10, kSupportNeighbors = 10;

/// The frame of the unit cube: unit = (world - origin) / side.
struct Cube {
  Vec3d origin;
  double side;
};

/// Points with normals as samples of the unit cube, points of the same small cell merged.
struct SampledCloud {
  Cube cube;
  Samples samples;
  BulkVector<double> spacing;  ///< distance to the kSupportNeighbors-th neighbour
  std::uint64_t ignored_count;
};

SampledCloud sample_cloud(Span<const Vec3d> points, Span<const Vec3d> normals, double scale,
                          std::uint32_t depth, OpContext& ctx);

/// Area and spacing of each sample, and the level at which a cell holds samples_per_node of them; one level more at creases,
/// where the normals of neighbours are turned by 45 to 135 degrees: linear cells round off what turns within them.
void measure_density(SampledCloud& cloud, const KdTree& tree, double samples_per_node, std::uint32_t depth,
                     OpContext& ctx);

}  // namespace pc::poisson_detail

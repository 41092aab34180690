#include "ops/wood/wood_voxels.h"

#include <algorithm>
#include <utility>

#include "ops/trees/path_nodes.h"

namespace pc {

namespace {

constexpr double kFinestVoxel = 1e-4;
constexpr std::uint64_t kFewestVoxels = 128;

}  // namespace

void voxel_means(HitPoints points, const WoodVoxels& voxels, WoodPoints& out, OpContext& ctx) {
  const double finest = std::max(voxels.finest_m, kFinestVoxel);
  double edge = voxels.voxel_m;
  if (!(edge > 0))
    edge = out.finite_count > voxels.most_points
               ? path_node_edge(points, finest, std::max(voxels.most_points, kFewestVoxels), ctx)
               : finest;
  PathNodes nodes = path_nodes(points, {}, edge, out.origin, ctx);
  out.voxel_m = nodes.edge_m;
  out.place = std::move(nodes.place);
}

}  // namespace pc

#include "ops/wood/wood_voxels.h"

#include <utility>

#include "ops/trees/path_nodes.h"

namespace pc {

namespace {

constexpr double kFinestVoxel = 1e-4;

}  // namespace

void voxel_means(HitPoints points, double voxel_m, std::uint64_t most_points, WoodPoints& out,
                 OpContext& ctx) {
  const double edge = voxel_m > 0 ? voxel_m : path_node_edge(points, kFinestVoxel, most_points, ctx);
  PathNodes nodes = path_nodes(points, {}, edge, out.origin, ctx);
  out.voxel_m = nodes.edge_m;
  out.place = std::move(nodes.place);
}

}  // namespace pc

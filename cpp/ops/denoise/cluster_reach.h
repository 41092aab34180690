#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/denoise/cluster_outlier.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Squared lengths of the longest links.
struct ClusterReach {
  BulkVector<double> point;  ///< reach(p) of cluster_outlier.h, by slot
  BulkVector<double> node;   ///< the largest of the points of each node
};

/// The reach of the points of a tree that has points, as defined in cluster_outlier.h.
ClusterReach measure_cluster_reach(const KdTree& tree, const ClusterOutlierParams& params, OpContext& ctx);

/// Numbers of the nodes that have children, each before its children. The tree has points.
std::vector<std::uint32_t> parents_first(const KdTree& tree, OpContext& ctx);

}  // namespace pc

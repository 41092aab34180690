#include "ops/qsm/uneven_spacing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::uint32_t kNeighbors = 4;
constexpr double kShare = 0.95;            // of the vertices that have them within a distance ..
constexpr double kSpacings = 5;            // .. of so many spacings
constexpr double kEven = 1.6 * kSpacings;  // up to here the cloud is even
constexpr std::size_t kGrain = 1024;

}  // namespace

double uneven_spacing(const PointGraph& graph, OpContext& ctx) {
  const std::size_t count = graph.vertex.size();
  if (!std::isfinite(graph.spacing_m) || count <= kNeighbors) return graph.spacing_m;
  const KdTree tree(graph.vertex.view(), ctx);
  std::vector<double> distance(count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    double squared[kNeighbors];
    std::uint64_t row[kNeighbors], slot[kNeighbors];
    for (std::size_t v = begin; v < end; ++v) {
      tree.view().knn_within(graph.vertex[v], kNeighbors, std::numeric_limits<double>::infinity(), v, squared,
                             row, slot);
      distance[v] = std::sqrt(squared[kNeighbors - 1]);
    }
  });
  const auto at = distance.begin() + static_cast<std::ptrdiff_t>(kShare * static_cast<double>(count - 1));
  std::nth_element(distance.begin(), at, distance.end());
  return *at > kEven * graph.spacing_m ? *at / kSpacings : graph.spacing_m;
}

}  // namespace pc

#include "ops/skeleton/sparse_surfaces.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::uint32_t kEnough = 12;        // neighbours
constexpr std::uint32_t kOnSurface = 12;     // within twice the radius, itself counted
constexpr std::uint32_t kSurfaceGrowth = 3;  // of the count with twice the radius
constexpr std::uint32_t kMostCounted = kSurfaceGrowth * kEnough;
constexpr std::size_t kBlock = 1024;

}  // namespace

std::vector<VertexLink> sparse_surface_links(const PointGraph& graph, const KdTree& tree, double edge_m,
                                             OpContext& ctx) {
  const std::size_t count = graph.vertex.size();
  const double near = edge_m * edge_m, far = 4 * near;
  std::vector<std::vector<VertexLink>> parts((count + kBlock - 1) / kBlock);
  parallel_for(ctx, parts.size(), 1, [&](std::size_t first, std::size_t last) {
    double squared[kMostCounted];
    std::uint64_t row[kMostCounted], slot[kMostCounted];
    for (std::size_t part = first; part < last; ++part) {
      for (std::size_t v = part * kBlock, end = std::min(count, v + kBlock); v < end; ++v) {
        const Vec3d& at = graph.vertex[v];
        const std::uint32_t within = tree.view().knn_within(at, kEnough, near, v, squared, row, slot);
        if (within == kEnough) continue;
        const std::uint32_t around = 1 + tree.view().knn_within(at, kMostCounted, far, v, squared, row, slot);
        if (around < kOnSurface || around < kSurfaceGrowth * (1 + within)) continue;
        for (std::uint32_t k = within; k < std::min(kEnough, around - 1); ++k) {
          const auto a = static_cast<std::uint32_t>(v), b = static_cast<std::uint32_t>(row[k]);
          parts[part].push_back({std::min(a, b), std::max(a, b), squared[k]});
        }
      }
    }
  });
  std::vector<VertexLink> links;
  for (auto& part : parts) {
    links.insert(links.end(), part.begin(), part.end());
    part = {};
  }
  const auto key = [](const VertexLink& link) { return std::tie(link.a, link.b); };
  std::sort(links.begin(), links.end(),
            [&](const VertexLink& p, const VertexLink& q) { return key(p) < key(q); });
  links.erase(std::unique(links.begin(), links.end(),
                          [&](const VertexLink& p, const VertexLink& q) { return key(p) == key(q); }),
              links.end());
  return links;
}

}  // namespace pc

#include "ops/mesh/poisson_trim.h"

#include <cmath>

#include "core/parallel.h"
#include "spatial/union_find.h"

namespace pc::poisson_detail {

namespace {

constexpr double kLoose = 1, kUnsupported = 2;  // in distances to the kSupportNeighbors-th neighbour
enum : std::uint8_t { kHeld, kIsLoose, kIsUnsupported };

BulkVector<std::uint8_t> support_of(const UnitMesh& mesh, const KdTree& tree, Span<const double> spacing,
                                    OpContext& ctx) {
  BulkVector<std::uint8_t> support(mesh.vertices.size());
  parallel_for(ctx, mesh.vertices.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      double squared = 0;
      std::uint64_t row = 0, slot = 0;
      tree.view().knn(mesh.vertices[v], 1, tree.size(), &squared, &row, &slot);
      const double ratio = std::sqrt(squared) / spacing[row];
      support[v] = ratio > kUnsupported ? kIsUnsupported : ratio > kLoose ? kIsLoose : kHeld;
    }
  });
  return support;
}

}  // namespace

std::uint64_t trim_unsupported(UnitMesh& mesh, const KdTree& tree, Span<const double> spacing, OpContext& ctx) {
  const BulkVector<std::uint8_t> support = support_of(mesh, tree, spacing, ctx);
  UnionFind patches(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t a = mesh.indices[i], b = mesh.indices[i - i % 3 + (i + 1) % 3];
    if (support[a] != kHeld && support[b] != kHeld) patches.join(a, b);
  }
  BulkVector<std::uint8_t> dropped(mesh.vertices.size());  // per patch, at its root
  for (std::size_t v = 0; v < support.size(); ++v)
    if (support[v] == kIsUnsupported) dropped[patches.root_of(v)] = 1;
  std::uint64_t count = 0;
  const auto goes = [&](std::uint32_t v) { return support[v] != kHeld && dropped[patches.root_of(v)] != 0; };
  for (std::size_t v = 0; v < support.size(); ++v) count += goes(static_cast<std::uint32_t>(v)) ? 1 : 0;
  ctx.checkpoint();
  std::size_t kept = 0;
  BulkVector<std::uint32_t> number(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t* const t = mesh.indices.data() + i;
    if (goes(t[0]) || goes(t[1]) || goes(t[2])) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      mesh.indices[kept + k] = t[k];
      number[t[k]] = 1;
    }
    kept += 3;
  }
  mesh.indices.resize(kept);
  std::uint32_t next = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] == 0) continue;
    mesh.vertices[next] = mesh.vertices[v];
    number[v] = next++;
  }
  mesh.vertices.resize(next);
  ctx.checkpoint();
  for (std::uint32_t& index : mesh.indices) index = number[index];
  return count;
}

}  // namespace pc::poisson_detail

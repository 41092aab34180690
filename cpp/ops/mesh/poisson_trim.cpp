#include "ops/mesh/poisson_trim.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/mesh/poisson_border.h"
#include "spatial/union_find.h"

namespace pc::poisson_detail {

namespace {

constexpr double kLeastSize = 2;  // of a component, in distances to the kSupportNeighbors-th neighbour
constexpr std::uint64_t kLeastPart =
    100;  // a border cuts off parts that have less than 1 / kLeastPart of the largest one

/// Joins the corners of each triangle that stay.
UnionFind components_of(const UnitMesh& mesh, const BulkVector<std::uint8_t>& dropped, OpContext& ctx) {
  UnionFind components(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t a = mesh.indices[i], b = mesh.indices[i - i % 3 + (i + 1) % 3];
    if (dropped[a] + dropped[b] == 0) components.join(a, b);
  }
  return components;
}

/// Drops the parts that are small beside the largest one of the same whole: whole(v) below the number of vertices.
template <class Whole>
void drop_shards(const UnitMesh& mesh, const Whole& whole, BulkVector<std::uint8_t>& dropped,
                 OpContext& ctx) {
  UnionFind parts = components_of(mesh, dropped, ctx);
  BulkVector<std::uint32_t> size(dropped.size()), largest(dropped.size());
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (dropped[v] == 0) ++size[parts.root_of(v)];
  }
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (dropped[v] != 0) continue;
    std::uint32_t& most = largest[whole(v)];
    most = std::max(most, size[parts.root_of(v)]);
  }
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (dropped[v] == 0 && kLeastPart * size[parts.root_of(v)] < largest[whole(v)]) dropped[v] = 1;
  }
}

/// Removes the triangles with a dropped vertex, then the vertices without triangles.
void drop(UnitMesh& mesh, const BulkVector<std::uint8_t>& dropped, OpContext& ctx) {
  std::size_t kept = 0;
  BulkVector<std::uint32_t> number(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.indices.size(); i += 3) {
    if (i % 49'152 == 0) ctx.checkpoint();
    const std::uint32_t* const t = mesh.indices.data() + i;
    if (dropped[t[0]] + dropped[t[1]] + dropped[t[2]] > 0) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      mesh.indices[kept + k] = t[k];
      number[mesh.indices[kept + k]] = 1;
    }
    kept += 3;
  }
  mesh.indices.resize(kept);
  std::uint32_t next = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (number[v] == 0) continue;
    mesh.vertices[next] = mesh.vertices[v];
    number[v] = next++;
  }
  mesh.vertices.resize(next);
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    if (i % 65'536 == 0) ctx.checkpoint();
    mesh.indices[i] = number[mesh.indices[i]];
  }
}

std::uint64_t count_of(const BulkVector<std::uint8_t>& flags) {
  std::uint64_t count = 0;
  for (const std::uint8_t flag : flags) count += flag;
  return count;
}

}  // namespace

TrimCounts trim_unsupported(UnitMesh& mesh, const SampleTree& samples, OpContext& ctx) {
  const Support support = support_of(mesh, samples, ctx);
  const std::size_t before = mesh.vertices.size();
  UnionFind whole = components_of(mesh, support.unsupported, ctx);
  BorderCut cut = cut_borders(mesh, samples, support, ctx);
  BulkVector<std::uint8_t>& dropped = cut.dropped;
  // A vertex of the mesh before the cut: of those that the border added, the kept end of their edge.
  const auto origin = [&](std::size_t v) { return v < before ? v : cut.kept_end[v - before]; };
  drop_shards(
      mesh, [&](std::size_t v) { return whole.root_of(origin(v)); }, dropped, ctx);
  TrimCounts counts{count_of(dropped), 0};
  // What is left of each component: its size against the widest spacing of the samples at it.
  UnionFind components = components_of(mesh, dropped, ctx);
  BulkVector<Box3d> box(mesh.vertices.size());
  BulkVector<float> widest(mesh.vertices.size());
  parallel_for(ctx, box.size(), 65'536, [&](std::size_t begin, std::size_t end) {
    std::fill(box.begin() + begin, box.begin() + end, Box3d{});
  });
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    const std::uint32_t root = components.root_of(v);
    box[root].add(mesh.vertices[v]);
    widest[root] = std::max(widest[root], support.spacing[origin(v)]);
  }
  for (std::size_t v = 0; v < dropped.size(); ++v) {
    if (v % 65'536 == 0) ctx.checkpoint();
    if (dropped[v] != 0) continue;
    const std::uint32_t root = components.root_of(v);
    const double least = kLeastSize * widest[root];
    if (squared_distance(box[root].min, box[root].max) >= least * least) continue;
    dropped[v] = 1;
    ++counts.speck_vertices;
  }
  drop(mesh, dropped, ctx);
  return counts;
}

}  // namespace pc::poisson_detail

#include "spatial/pseudo_normals.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "core/parallel.h"
#include "core/radix_sort.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 65'536;      // triangles per block: 5 ms
constexpr std::size_t kPollEvery = 65'536;  // steps between two cancel checks
constexpr std::size_t kMostEdges = 4'294'967'295;

/// Too thin for a normal: triangle_distance.h.
bool is_flat(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d ab = b - a, bc = c - b, ca = a - c, normal = cross(ab, bc);
  const double longest = std::max({dot(ab, ab), dot(bc, bc), dot(ca, ca)});
  const double least = longest * triangle_distance::kNeedle;
  return !(dot(normal, normal) > least * least);
}

double angle_between(const Vec3d& a, const Vec3d& b) {
  const Vec3d normal = cross(a, b);
  return std::atan2(std::sqrt(dot(normal, normal)), dot(a, b));
}

}  // namespace

PseudoNormals::PseudoNormals(const TriangleMesh& mesh, OpContext& ctx) : mesh_(mesh) {
  check_mesh(mesh, ctx);
  require(mesh.indices.size <= kMostEdges, "a mesh with sides has at most 1431655765 triangles");
  if (mesh.indices.empty()) return;
  origin_ = mesh.vertices[mesh.indices[0]];
  const auto triangles = mesh.triangle_count();
  std::atomic<std::uint64_t> flat{0};
  parallel_for(ctx, triangles, kGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t count = 0;
    for (std::size_t i = begin; i < end; ++i)
      count += is_flat(corner(i, 0), corner(i, 1), corner(i, 2)) ? 1 : 0;
    flat += count;
  });
  flat_count_ = flat;
  if (!pair_edges(mesh.indices, ctx) && weld(ctx)) pair_edges(welded_.view(), ctx);
  if (!defined()) return;
  const double volume = parallel_sum(
      ctx, triangles, [&](std::size_t i) { return dot(corner(i, 0), cross(corner(i, 1), corner(i, 2))); });
  inverted_ = volume < 0;
  sum_at_vertices(ctx);
}

Vec3d PseudoNormals::face_normal(std::size_t triangle) const {
  const Vec3d a = corner(triangle, 0), b = corner(triangle, 1), c = corner(triangle, 2);
  const Vec3d normal = cross(b - a, c - b);
  return normal * (1 / std::sqrt(dot(normal, normal)));
}

/// Finds the neighbour at every edge; false if there are edges without exactly one.
bool PseudoNormals::pair_edges(Span<const std::uint32_t> indices, OpContext& ctx) {
  const std::size_t count = indices.size;
  const auto head = [&](std::size_t edge) { return indices[edge % 3 == 2 ? edge - 2 : edge + 1]; };
  BulkVector<std::uint64_t> keys(count);
  BulkVector<std::uint32_t> edges(count);
  parallel_for(ctx, count, 3 * kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t edge = begin; edge < end; ++edge) {
      const std::uint32_t from = indices[edge], to = head(edge);
      keys[edge] = static_cast<std::uint64_t>(std::min(from, to)) << 32 | std::max(from, to);
      edges[edge] = static_cast<std::uint32_t>(edge);
    }
  });
  radix_sort_pairs(keys.view(), edges.view(), 64, ctx);
  neighbor_ = BulkVector<std::uint32_t>(count);
  open_edge_count_ = 0;
  for (std::size_t i = 0, polled = 0; i < count;) {
    if (i >= polled) {
      ctx.checkpoint();
      polled = i + kPollEvery;
    }
    std::size_t end = i + 1;
    while (end < count && keys[end] == keys[i]) ++end;
    const std::uint32_t first = edges[i], second = edges[end - 1];
    if (end - i == 2 && indices[first] == head(second) && indices[second] == head(first)) {
      neighbor_[first] = second / 3;
      neighbor_[second] = first / 3;
    } else {
      ++open_edge_count_;
    }
    i = end;
  }
  return open_edge_count_ == 0;
}

/// Makes one vertex of those at equal places; false if all places differ.
bool PseudoNormals::weld(OpContext& ctx) {
  const Span<const Vec3d> places = mesh_.vertices;
  BulkVector<std::uint32_t> order(places.size), first(places.size);
  for (std::size_t i = 0; i < places.size; ++i) order[i] = static_cast<std::uint32_t>(i);
  std::size_t compared = 0;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (++compared % kPollEvery == 0) ctx.checkpoint();
    const Vec3d &p = places[a], &q = places[b];
    if (p.x != q.x) return p.x < q.x;
    if (p.y != q.y) return p.y < q.y;
    if (p.z != q.z) return p.z < q.z;
    return a < b;
  });
  bool any = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const bool same = i > 0 && places[order[i]] == places[order[i - 1]];
    first[order[i]] = same ? first[order[i - 1]] : order[i];
    any = any || same;
  }
  if (!any) return false;
  welded_ = BulkVector<std::uint32_t>(mesh_.indices.size);
  parallel_for(ctx, mesh_.indices.size, 3 * kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) welded_[i] = first[mesh_.indices[i]];
  });
  return true;
}

void PseudoNormals::sum_at_vertices(OpContext& ctx) {
  at_vertex_ = BulkVector<Vec3d>(mesh_.vertices.size);
  const Span<const std::uint32_t> indices = welded_.empty() ? mesh_.indices : std::as_const(welded_).view();
  for (std::size_t i = 0; i < mesh_.triangle_count(); ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    const Vec3d normal = face_normal(i);
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d at = corner(i, k), next = corner(i, (k + 1) % 3), last = corner(i, (k + 2) % 3);
      Vec3d& sum = at_vertex_[indices[3 * i + k]];
      sum = sum + normal * angle_between(next - at, last - at);
    }
  }
}

bool PseudoNormals::inside(std::uint32_t triangle, const TrianglePoint& closest) const {
  const std::size_t first = std::size_t{triangle} * 3;
  const auto at_vertex = [&](std::size_t k) {
    return at_vertex_[welded_.empty() ? mesh_.indices[first + k] : welded_[first + k]];
  };
  const auto at_edge = [&](std::size_t k) {
    return face_normal(triangle) + face_normal(neighbor_[first + k]);
  };
  Vec3d normal{0, 0, 0};
  switch (closest.feature) {
    case TriangleFeature::kFace:
      normal = face_normal(triangle);
      break;
    case TriangleFeature::kEdgeAb:
    case TriangleFeature::kEdgeBc:
    case TriangleFeature::kEdgeCa:
      normal = at_edge(static_cast<std::size_t>(closest.feature) -
                       static_cast<std::size_t>(TriangleFeature::kEdgeAb));
      break;
    case TriangleFeature::kVertexA:
    case TriangleFeature::kVertexB:
    case TriangleFeature::kVertexC:
      normal = at_vertex(static_cast<std::size_t>(closest.feature) -
                         static_cast<std::size_t>(TriangleFeature::kVertexA));
      break;
  }
  const double side = dot(normal, closest.from_point);
  return inverted_ ? side > 0 : side < 0;
}

}  // namespace pc

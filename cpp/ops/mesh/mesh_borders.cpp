#include "ops/mesh/mesh_borders.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/radix_sort.h"

namespace pc {

namespace {

constexpr std::size_t kPollEvery = 65'536;
constexpr std::uint32_t kNone = 0xffffffffU;
constexpr std::uint32_t kMostTurns = 64;  // borders that touch at a vertex; more are not followed

/// An edge as the gap beside it sees it: against the direction of its triangle.
struct GapEdge {
  std::uint32_t from, to;
};

/// Rises with the angle, from 0 to 4 over a full turn.
double pseudo_angle(double cosine, double sine) {
  const double size = std::abs(cosine) + std::abs(sine);
  if (!(size > 0)) return 0;
  return sine >= 0 ? 1 - cosine / size : 3 + cosine / size;
}

class BorderEdges {
 public:
  BorderEdges(Span<const Vec3d> places, Span<const Vec3d> normals, const MeshEdges& edges, OpContext& ctx)
      : places_(places), normals_(normals) {
    BulkVector<GapEdge> found;
    BulkVector<std::uint64_t> from;
    edges.for_each_open(ctx, [&](std::uint32_t a, std::uint32_t b) {
      found.push_back({b, a});
      from.push_back(b);
    });
    const BulkVector<std::uint32_t> order = radix_sort_order(from.view(), 32, ctx);
    edges_.resize(found.size());
    for (std::size_t i = 0; i < order.size(); ++i) edges_[i] = found[order[i]];
  }
  std::size_t size() const { return edges_.size(); }
  const GapEdge& operator[](std::size_t i) const { return edges_[i]; }

  /// The edge on which a gap goes on after edge i.
  std::uint32_t next(std::size_t i) const {
    const std::uint32_t at = edges_[i].to;
    const GapEdge* edge = std::lower_bound(edges_.begin(), edges_.end(), at,
                                           [](const GapEdge& e, std::uint32_t v) { return e.from < v; });
    const auto first = static_cast<std::uint32_t>(edge - edges_.begin());
    std::uint32_t end = first;
    while (end < edges_.size() && edges_[end].from == at && end - first <= kMostTurns) ++end;
    if (end == first || end - first > kMostTurns) return kNone;
    return end - first == 1 ? first : nearest_turn(edges_[i].from, at, first, end);
  }

 private:
  /// The first of the edges met by a clockwise turn about `at` from the edge that came from `from`.
  std::uint32_t nearest_turn(std::uint32_t from, std::uint32_t at, std::uint32_t first,
                             std::uint32_t end) const {
    const Vec3d& n = normals_[at];
    const Vec3d back = places_[from] - places_[at], side = cross(n, back);
    std::uint32_t best = first;
    double least = HUGE_VAL;
    for (std::uint32_t e = first; e < end; ++e) {
      const Vec3d away = places_[edges_[e].to] - places_[at];
      // side is |n| times as long as back is in the plane of the normal.
      const Vec3d flat = back * dot(n, n) - n * dot(n, back);
      const double angle = pseudo_angle(dot(away, flat), -dot(away, side) * std::sqrt(dot(n, n)));
      if (angle < least) {
        least = angle;
        best = e;
      }
    }
    return best;
  }

  Span<const Vec3d> places_, normals_;
  BulkVector<GapEdge> edges_;  ///< by `from`
};

}  // namespace

MeshEdges::MeshEdges(Span<const std::uint32_t> triangles, std::size_t vertices, OpContext& ctx)
    : first_(vertices + 1), codes_(triangles.size) {
  const auto for_each = [&](const auto& visit) {
    for (std::size_t t = 0; t + 2 < triangles.size; t += 3) {
      if (t % (3 * kPollEvery) == 0) ctx.checkpoint();
      for (std::size_t k = 0; k < 3; ++k) visit(triangles[t + k], triangles[t + (k + 1) % 3]);
    }
  };
  for_each([&](std::uint32_t a, std::uint32_t b) { ++first_[std::min(a, b) + 1]; });
  for (std::size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
  BulkVector<std::uint64_t> next(vertices);
  std::copy_n(first_.begin(), vertices, next.begin());
  for_each([&](std::uint32_t a, std::uint32_t b) {
    codes_[next[std::min(a, b)]++] = std::max(a, b) << 1 | (a < b ? 1U : 0U);
  });
  parallel_for(ctx, vertices, kPollEvery, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v)
      std::sort(codes_.begin() + first_[v], codes_.begin() + first_[v + 1]);
  });
}

bool MeshEdges::has(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t low = std::min(a, b), high = std::max(a, b);
  const auto end = codes_.begin() + first_[low + 1];
  const auto found = std::lower_bound(codes_.begin() + first_[low], end, high << 1);
  return found != end && *found >> 1 == high;
}

MeshBorders mesh_borders(Span<const Vec3d> places, Span<const Vec3d> normals, const MeshEdges& edges,
                         std::size_t most_corners, OpContext& ctx) {
  const BorderEdges open(places, normals, edges, ctx);
  MeshBorders borders{{}, {}, open.size()};
  borders.first.push_back(0);
  BulkVector<std::uint8_t> visited(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (visited[i] != 0) continue;
    const std::size_t begin = borders.corners.size();
    std::uint32_t at = static_cast<std::uint32_t>(i);
    while (at != kNone && visited[at] == 0) {
      if (borders.corners.size() % kPollEvery == 0) ctx.checkpoint();
      visited[at] = 1;
      borders.corners.push_back(open[at].from);
      at = open.next(at);
    }
    const std::size_t corners = borders.corners.size() - begin;
    // A walk that ends on another edge than its first one is no loop.
    if (at == i && corners >= 3 && corners <= most_corners)
      borders.first.push_back(borders.corners.size());
    else
      borders.corners.resize(begin);
  }
  return borders;
}

}  // namespace pc

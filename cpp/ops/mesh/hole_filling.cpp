#include "ops/mesh/hole_filling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "core/parallel.h"
#include "ops/mesh/mesh_borders.h"

namespace pc {

namespace {

constexpr std::size_t kMostCorners = 48;
/// Least sum of the cosines between a triangle and the normals of its corners: 2 where one corner of a flat triangle lies
/// beyond a sharp edge, 1.73 across the corner of a box, 0 on the cap of a tube, 1 with a corner on the other face of a sheet.
constexpr double kLeastFacing = 1.2;
constexpr std::size_t kSides[3][2] = {{0, 1}, {1, 2}, {0, 2}};
constexpr std::size_t kBlock = 8;  // holes that a thread fills before it looks for a cancel

/// The best triangulation of one hole.
class HolePatch {
 public:
  HolePatch(Span<const Vec3d> places, Span<const Vec3d> normals, const MeshEdges& edges)
      : places_(places), normals_(normals), edges_(edges) {}

  /// Corners run round the hole with it on their left. False if no allowed triangulation exists.
  bool solve(Span<const std::uint32_t> corners, double radius) {
    corners_ = corners;
    most_ = radius * radius;
    const std::size_t k = corners.size;
    for (std::size_t i = 0; i + 1 < k; ++i) cost_[i][i + 1] = 0;
    for (std::size_t span = 2; span < k; ++span)
      for (std::size_t i = 0; i + span < k; ++i) best_between(i, i + span);
    return std::isfinite(cost_[0][k - 1]);
  }
  /// Visits the triangles of the solution: three positions in the corners.
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::array<std::array<std::size_t, 2>, 2 * kMostCorners> open;
    std::size_t count = 0;
    open[count++] = {0, corners_.size - 1};
    while (count > 0) {
      const auto [i, j] = open[--count];
      if (j - i < 2) continue;
      const std::size_t m = middle_[i][j];
      visit(i, m, j);
      open[count++] = {i, m};
      open[count++] = {m, j};
    }
  }

 private:
  void best_between(std::size_t i, std::size_t j) {
    double least = HUGE_VAL;
    std::size_t at = i;
    const bool is_rim = i == 0 && j + 1 == corners_.size;
    if (is_rim || may_join(i, j)) {
      for (std::size_t m = i + 1; m < j; ++m) {
        const double sides = cost_[i][m] + cost_[m][j];
        if (!(sides < least)) continue;
        const double cost = sides + cost_of(i, m, j);
        if (cost < least) {
          least = cost;
          at = m;
        }
      }
    }
    cost_[i][j] = least;
    middle_[i][j] = static_cast<std::uint8_t>(at);
  }
  /// Whether a new edge may join two corners.
  bool may_join(std::size_t i, std::size_t j) const {
    const std::uint32_t a = corners_[i], b = corners_[j];
    return a != b && squared_distance(places_[a], places_[b]) <= 4 * most_ && !edges_.has(a, b);
  }
  double cost_of(std::size_t i, std::size_t m, std::size_t j) const {
    const std::uint32_t a = corners_[i], b = corners_[m], c = corners_[j];
    const Vec3d u = places_[b] - places_[a], v = places_[c] - places_[a], w = places_[c] - places_[b];
    const Vec3d n = cross(u, v);
    const double facing = dot(n, normals_[a] + normals_[b] + normals_[c]);
    if (!(facing > 0) || !(facing * facing > kLeastFacing * kLeastFacing * dot(n, n))) return HUGE_VAL;
    const double uu = dot(u, u), vv = dot(v, v), ww = dot(w, w), nn = dot(n, n);
    if (!(uu * vv * ww <= 4 * nn * most_)) return HUGE_VAL;  // the squared radius is uu vv ww / 4 nn
    return std::sqrt(nn) * (uu + vv + ww);
  }

  Span<const Vec3d> places_, normals_;
  const MeshEdges& edges_;
  Span<const std::uint32_t> corners_{};
  double most_ = 0;
  double cost_[kMostCorners][kMostCorners];
  std::uint8_t middle_[kMostCorners][kMostCorners];
};

/// Appends triangles of one hole unless a new edge is another hole's already.
class PatchWriter {
 public:
  explicit PatchWriter(HoleFilling& filling) : filling_(filling) {}

  /// triangles  positions in the corners, three each
  void write(Span<const std::uint32_t> corners, const std::vector<std::uint8_t>& triangles) {
    joined_.clear();
    for (std::size_t t = 0; t < triangles.size(); t += 3) {
      for (const auto& side : kSides) {
        const std::size_t i = triangles[t + side[0]], j = triangles[t + side[1]];
        if (j - i == 1 || j - i + 1 == corners.size) continue;
        const std::uint32_t a = std::min(corners[i], corners[j]), b = std::max(corners[i], corners[j]);
        joined_.push_back(std::uint64_t{a} << 32 | b);
      }
    }
    // A new edge lies between two triangles of the patch, so it is listed twice; more often where a corner repeats.
    std::sort(joined_.begin(), joined_.end());
    for (std::size_t e = 0; e + 2 < joined_.size(); e += 2)
      if (joined_[e] == joined_[e + 2]) return;
    for (const std::uint64_t edge : joined_)
      if (taken_.count(edge) != 0) return;
    taken_.insert(joined_.begin(), joined_.end());
    for (const std::uint8_t at : triangles) filling_.triangles.push_back(corners[at]);
    ++filling_.filled_count;
    filling_.open_edge_count -= corners.size;
  }

 private:
  HoleFilling& filling_;
  std::unordered_set<std::uint64_t> taken_;
  std::vector<std::uint64_t> joined_;
};

}  // namespace

HoleFilling fill_holes(Span<const Vec3d> places, Span<const Vec3d> normals,
                       Span<const std::uint32_t> triangles,
                       const std::function<double(const Vec3d&)>& radius_at, OpContext& ctx) {
  const MeshEdges edges(triangles, places.size, ctx);
  const MeshBorders borders = mesh_borders(places, normals, edges, kMostCorners, ctx);
  HoleFilling filling{{}, 0, borders.edge_count};
  const std::size_t count = borders.first.size() - 1;
  const auto corners_of = [&](std::size_t hole) {
    return borders.corners.view().subspan(borders.first[hole], borders.first[hole + 1] - borders.first[hole]);
  };
  std::vector<std::vector<std::uint8_t>> patches(count);
  parallel_for(ctx, count, kBlock, [&](std::size_t begin, std::size_t end) {
    HolePatch patch(places, normals, edges);
    for (std::size_t hole = begin; hole < end; ++hole) {
      const Span<const std::uint32_t> corners = corners_of(hole);
      if (!patch.solve(corners, radius_at(places[corners[0]]))) continue;
      patch.for_each([&](std::size_t i, std::size_t m, std::size_t j) {
        for (const std::size_t at : {i, m, j}) patches[hole].push_back(static_cast<std::uint8_t>(at));
      });
    }
  });
  PatchWriter writer(filling);
  for (std::size_t hole = 0; hole < count; ++hole) {
    if (hole % 4096 == 0) ctx.checkpoint();
    if (!patches[hole].empty()) writer.write(corners_of(hole), patches[hole]);
  }
  return filling;
}

}  // namespace pc

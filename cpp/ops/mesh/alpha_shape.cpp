#include "ops/mesh/alpha_shape.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/mesh/plane_sheet.h"
#include "ops/mesh/surface_gaps.h"
#include "spatial/circumradius.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr const char* kPhase = "Meshing (alpha shape)";
constexpr double kSpacings = 2;
constexpr double kGapRadii = 1.4;  // as ball_pivoting.h
constexpr std::size_t kGapSamples = 8192;
/// Spheres of faces are compared with this tolerance: a corner on the sphere is not inside it.
constexpr double kOnSphere = 1 - 1e-12;
constexpr double kMostAlpha = 1e60;

using Cells = DelaunayTetrahedra;

BulkVector<Vec3d> exact_points(Span<const Vec3d> points, OpContext& ctx) {
  BulkVector<Vec3d> out(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      require(in_exact_range(points[i]), "points must be finite and within 2^100 m");
      out[i] = exact_point(points[i]);
    }
  });
  return out;
}

struct Spacing {
  double mean_m;
  std::uint64_t repeated_count;
};

/// The nearest other point is joined to its point by an edge of the tetrahedra. One thread: minima at scattered places.
Spacing spacing_of(const Cells& cells, OpContext& ctx) {
  const Span<const Vec3d> at = cells.vertices();
  BulkVector<double> nearest(at.size);
  for (std::size_t v = 0; v < at.size; ++v) nearest[v] = HUGE_VAL;
  for (std::size_t slot = 0; slot < cells.slots(); ++slot) {
    if (slot % kGrain == 0) ctx.checkpoint();
    if (!cells.is_finite_cell(slot)) continue;
    const auto& c = cells.corners(slot);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        const double squared = squared_distance(at[c[i]], at[c[j]]);
        nearest[c[i]] = std::min(nearest[c[i]], squared);
        nearest[c[j]] = std::min(nearest[c[j]], squared);
      }
    }
  }
  const auto joined = [&](std::size_t v) { return nearest[v] < HUGE_VAL; };
  const double sum =
      parallel_sum(ctx, at.size, [&](std::size_t v) { return joined(v) ? std::sqrt(nearest[v]) : 0; });
  std::uint64_t count = 0;
  for (std::size_t v = 0; v < at.size; ++v) count += joined(v) ? 1 : 0;
  return {sum / static_cast<double>(count), at.size - count};
}

/// 1 for each tetrahedron whose sphere is no larger than alpha.
BulkVector<std::uint8_t> solid_cells(const Cells& cells, double alpha, OpContext& ctx) {
  const Span<const Vec3d> at = cells.vertices();
  BulkVector<std::uint8_t> solid(cells.slots());
  parallel_for(ctx, cells.slots(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (!cells.is_finite_cell(slot)) continue;
      const auto& c = cells.corners(slot);
      solid[slot] = circumradius::within(at[c[0]], at[c[1]], at[c[2]], at[c[3]], alpha * alpha) ? 1 : 0;
    }
  });
  return solid;
}

/// Calls visit(slot, i) for every face of the wanted kind, concurrently for blocks of slots; emits 3 rows per face in the
/// order of the slots.
template <class Wanted>
Column<std::uint32_t> faces_of(const Cells& cells, OpContext& ctx, const Wanted& wanted) {
  const auto each_face = [&](std::size_t begin, std::size_t end, auto&& visit) {
    std::array<std::uint32_t, 3> face{};
    for (std::size_t slot = begin; slot < end; ++slot)
      for (std::size_t i = 0; i < 4; ++i)
        if (wanted(slot, i, face)) visit(face);
  };
  std::vector<std::size_t> firsts((cells.slots() + kGrain - 1) / kGrain + 1, 0);
  parallel_for(ctx, cells.slots(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    each_face(begin, end, [&](const auto&) { ++count; });
    firsts[begin / kGrain + 1] = count;
  });
  for (std::size_t k = 1; k < firsts.size(); ++k) firsts[k] += firsts[k - 1];
  Column<std::uint32_t> rows(3 * firsts.back());
  parallel_for(ctx, cells.slots(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t at = 3 * firsts[begin / kGrain];
    each_face(begin, end, [&](const auto& face) {
      for (const std::uint32_t vertex : face) rows[at++] = cells.row(vertex);
    });
  });
  return rows;
}

std::array<std::uint32_t, 3> face_of(const Cells& cells, std::size_t slot, std::size_t i) {
  const auto& corner = cells.corners(slot);
  const auto& face = Cells::kFace[i];
  return {corner[face[0]], corner[face[1]], corner[face[2]]};
}

/// Corner of the neighbour behind face i that is not on the face; kInfinite at infinity.
std::uint32_t opposite(const Cells& cells, std::size_t slot, std::size_t i) {
  const auto& own = cells.corners(slot);
  for (const std::uint32_t vertex : cells.corners(cells.neighbor(slot, i))) {
    bool shared = false;
    for (std::size_t k = 0; k < 4; ++k) shared = shared || (k != i && own[k] == vertex);
    if (!shared) return vertex;
  }
  return Cells::kInfinite;
}

/// Faces of the alpha complex between two cells that are not solid, each from one of the cells.
struct SheetFaces {
  const Cells& cells;
  const BulkVector<std::uint8_t>& solid;
  double alpha_squared;
  Vec3d centroid;

  bool operator()(std::size_t slot, std::size_t i, std::array<std::uint32_t, 3>& face) const {
    if (!cells.is_finite_cell(slot) || solid[slot] != 0) return false;
    const std::uint32_t behind = cells.neighbor(slot, i);
    if (solid[behind] != 0 || (cells.is_finite_cell(behind) && behind < slot)) return false;
    face = face_of(cells, slot, i);
    const Span<const Vec3d> at = cells.vertices();
    const auto circle = circumradius::circle_of(at[face[0]], at[face[1]], at[face[2]]);
    if (!(circle.squared_radius <= alpha_squared)) return false;
    for (const std::uint32_t apex : {cells.corners(slot)[i], opposite(cells, slot, i)}) {
      if (apex == Cells::kInfinite) continue;
      if (squared_distance(at[apex], circle.center) < kOnSphere * circle.squared_radius) return false;
    }
    if (facing(at[face[0]], at[face[1]], at[face[2]], centroid) < 0) std::swap(face[0], face[1]);
    return true;
  }
};

Vec3d centroid_of(Span<const Vec3d> points, OpContext& ctx) {
  const auto mean = [&](auto&& coordinate) {
    return parallel_sum(ctx, points.size, coordinate) / static_cast<double>(points.size);
  };
  return {mean([&](std::size_t i) { return points[i].x; }), mean([&](std::size_t i) { return points[i].y; }),
          mean([&](std::size_t i) { return points[i].z; })};
}

double volume_of(const Cells& cells, const BulkVector<std::uint8_t>& solid, OpContext& ctx) {
  const Span<const Vec3d> at = cells.vertices();
  return parallel_sum(ctx, cells.slots(), [&](std::size_t slot) {
    if (solid[slot] == 0) return 0.0;
    const auto& c = cells.corners(slot);
    const Vec3d a = at[c[0]] - at[c[3]], b = at[c[1]] - at[c[3]], d = at[c[2]] - at[c[3]];
    return (a.x * (b.y * d.z - b.z * d.y) + a.y * (b.z * d.x - b.x * d.z) + a.z * (b.x * d.y - b.y * d.x)) /
           6;
  });
}

}  // namespace

double automatic_alpha(Span<const Vec3d> points, double mean_spacing_m, OpContext& ctx) {
  const KdTree tree(points, ctx);
  const std::vector<SurfaceGap> gaps = surface_gaps(tree, points, kGapSamples, ctx);
  return std::max(kSpacings * mean_spacing_m, kGapRadii * typical_gap({gaps.data(), gaps.size()}));
}

AlphaShapeResult alpha_shape(HitPoints points, const AlphaShapeParams& params, OpContext& ctx) {
  if (params.alpha_m)
    require(*params.alpha_m > 0 && *params.alpha_m <= kMostAlpha, "alpha must be finite and positive");
  ctx.begin_phase(kPhase, 0);
  const BulkVector<Vec3d> exact = exact_points(points.xyz(), ctx);
  const Cells cells(exact.view(), kPhase, ctx);
  if (cells.dimension() < 3) return plane_sheet(exact.view(), params.alpha_m, ctx);
  const Spacing spacing = spacing_of(cells, ctx);
  AlphaShapeResult out{};
  out.mean_spacing_m = spacing.mean_m;
  out.repeated_count = spacing.repeated_count;
  out.alpha_m = params.alpha_m ? *params.alpha_m : automatic_alpha(exact.view(), spacing.mean_m, ctx);
  const BulkVector<std::uint8_t> solid = solid_cells(cells, out.alpha_m, ctx);
  out.faces = AlphaFaces::kSolid;
  out.volume_m3 = volume_of(cells, solid, ctx);
  out.indices =
      faces_of(cells, ctx, [&](std::size_t slot, std::size_t i, std::array<std::uint32_t, 3>& face) {
        if (solid[slot] == 0 || solid[cells.neighbor(slot, i)] != 0) return false;
        face = face_of(cells, slot, i);
        return true;
      });
  const SheetFaces sheet{cells, solid, out.alpha_m * out.alpha_m, centroid_of(exact.view(), ctx)};
  const Column<std::uint32_t> sheet_faces = faces_of(cells, ctx, sheet);
  out.sheet_count = sheet_faces.size() / 3;
  if (sheet_faces.size() <= out.indices.size()) return out;
  out.faces = AlphaFaces::kSheet;
  Column<std::uint32_t> both(out.indices.size() + sheet_faces.size());
  std::copy(out.indices.view().begin(), out.indices.view().end(), both.view().begin());
  std::copy(sheet_faces.view().begin(), sheet_faces.view().end(), both.view().begin() + out.indices.size());
  out.indices = std::move(both);
  return out;
}

}  // namespace pc

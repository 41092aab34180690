#include "ops/fit/alpha_crown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/position_hash.h"
#include "core/radix_sort.h"
#include "ops/fit/alpha_solid.h"
#include "ops/fit/crown_trim.h"
#include "ops/fit/mesh_smoothing.h"
#include "ops/fit/thin_parts.h"
#include "ops/fit/unseen_layer.h"
#include "spatial/union_find.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr const char* kPhase = "Building tetrahedra";
constexpr std::size_t kMostSlots = std::size_t{1} << 30;  // four faces each are numbered with 32 bits
constexpr std::array<double, 8> kAlphaSpacings{3, 4, 5, 6, 8, 10, 14, 20};  // contract core section 4
// At these radii the solid of evenly spread points has no pits, although its surface touches itself, where the mesh is split.
// Points that need larger ones are in clumps, whose spacing says little.
constexpr double kLeastEvenSpacings = 6, kMostEvenSpacings = 8;
using Cells = DelaunayTetrahedra;

BulkVector<Vec3d> exact_points(Span<const Vec3d> points, OpContext& ctx) {
  BulkVector<Vec3d> out(points.size);
  parallel_for(ctx, points.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = exact_point(points[i]);
  });
  return out;
}

struct Spacing {
  double mean_m;        ///< from a point to the nearest other one, to which it has an edge
  std::uint64_t count;  ///< points, those at one place counted once
};
Spacing spacing_of(const Cells& cells, OpContext& ctx) {
  const Span<const Vec3d> at = cells.vertices();
  BulkVector<double> nearest(at.size);
  std::fill(nearest.begin(), nearest.end(), HUGE_VAL);
  for (std::size_t slot = 0; slot < cells.slots(); ++slot) {
    if (slot % kGrain == 0) ctx.checkpoint();
    if (!cells.is_finite_cell(slot)) continue;
    const auto& c = cells.corners(slot);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j)
        if (i != j) nearest[c[i]] = std::min(nearest[c[i]], squared_distance(at[c[i]], at[c[j]]));
    }
  }
  double sum = 0;
  std::uint64_t count = 0;
  for (std::size_t v = 0; v < at.size; ++v) {
    if (nearest[v] == HUGE_VAL) continue;  // repeated
    sum += std::sqrt(nearest[v]);
    ++count;
  }
  return {sum / static_cast<double>(count), count};
}

/// Whether no edge has more than two triangles, of a surface that is the boundary of a solid.
bool is_watertight(Span<const std::uint32_t> triangles, OpContext& ctx) {
  BulkVector<std::uint64_t> edges(triangles.size);
  parallel_for(ctx, triangles.size / 3, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 3 * begin; i < 3 * end; i += 3)
      for (std::size_t k = 0; k < 3; ++k)
        edges[i + k] = std::uint64_t{triangles[i + k]} << 32 | triangles[i + (k + 1) % 3];
  });
  const auto order = radix_sort_order(edges.view(), 64, ctx);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (edges[order[i]] == edges[order[i - 1]]) return false;
  }
  return true;
}

struct Carved {
  double alpha_m = 0;
  bool watertight = false;
  std::uint64_t held_count = 0;
  double highest_z = -HUGE_VAL;
  BulkVector<std::uint32_t> faces;
};

Carved carved(AlphaSolid& solid, const Cells& cells, double alpha, OpContext& ctx) {
  Carved out;
  solid.carve(alpha);
  if (solid.empty()) return out;
  out.alpha_m = alpha;
  const auto held = solid.held();
  for (std::size_t v = 0; v < held.size(); ++v) {
    if (v % kGrain == 0) ctx.checkpoint();
    if (held[v] == 0) continue;
    ++out.held_count;
    out.highest_z = std::max(out.highest_z, cells.vertices()[v].z);
  }
  out.faces = solid.faces();
  out.watertight = is_watertight(solid.triangles(out.faces).view(), ctx);
  return out;
}

/// Mesh of the solid's surface. Where parts of the surface touch at an edge or a vertex, each part gets its own vertices.
CrownMesh split_mesh(const AlphaSolid& solid, const Cells& cells, const BulkVector<std::uint32_t>& faces,
                     OpContext& ctx) {
  const BulkVector<std::uint32_t> triangles = solid.triangles(faces);
  BulkVector<std::uint32_t> place(4 * cells.slots()), number(triangles.size());
  for (std::size_t t = 0; t < faces.size(); ++t) place[faces[t]] = static_cast<std::uint32_t>(3 * t);
  UnionFind corners(triangles.size());
  for (std::size_t t = 0; t < faces.size(); ++t) {
    if (t % kGrain == 0) ctx.checkpoint();
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t from = 3 * t + k, to = 3 * t + (k + 1) % 3;
      const std::size_t other = place[solid.mate(faces[t], triangles[from], triangles[to])];
      for (std::size_t corner = other; corner < other + 3; ++corner) {
        if (triangles[corner] == triangles[from]) corners.join(corner, from);
        if (triangles[corner] == triangles[to]) corners.join(corner, to);
      }
    }
  }
  CrownMesh mesh;
  for (std::size_t corner = 0; corner < triangles.size(); ++corner) {
    if (corner % kGrain == 0) ctx.checkpoint();
    const std::uint32_t root = corners.root_of(corner);  // the first corner of its vertex
    if (root == corner) {
      number[corner] = static_cast<std::uint32_t>(mesh.vertices.size());
      mesh.vertices.push_back(cells.vertices()[triangles[corner]]);
    }
    mesh.triangles.push_back(number[root]);
  }
  return mesh;
}

/// Carved with its mesh.
struct Wrapped {
  Carved carved;
  CrownMesh mesh;
  double unseen_m3 = 0;  ///< between the mesh and the solid that the points fill
};

Wrapped wrapped(const AlphaSolid& solid, const Cells& cells, Carved carved, OpContext& ctx) {
  Wrapped out{std::move(carved), {}, 0};
  out.mesh = split_mesh(solid, cells, out.carved.faces, ctx);
  out.unseen_m3 = unseen_volume(
      out.mesh, {out.carved.held_count, solid.volume_m3(), solid.hollow_m3(out.carved.alpha_m)}, ctx);
  return out;
}

/// The first radius whose solid holds enough points and is watertight, or filled evenly; else the last that has a solid.
Wrapped search(AlphaSolid& solid, const Cells& cells, double enough, OpContext& ctx) {
  const double spacing = spacing_of(cells, ctx).mean_m;
  double largest = 0;
  for (const double spacings : kAlphaSpacings) {
    Carved found = carved(solid, cells, spacings * spacing, ctx);
    largest = std::max(largest, found.alpha_m);
    if (found.alpha_m == 0 || static_cast<double>(found.held_count) < enough) continue;
    const bool may_touch = spacings >= kLeastEvenSpacings && spacings <= kMostEvenSpacings;
    if (!found.watertight && !may_touch) continue;
    Wrapped out = wrapped(solid, cells, std::move(found), ctx);
    if (out.carved.watertight || out.unseen_m3 > 0) return out;
  }
  require(largest > 0, "the crown points are too few or too scattered for an alpha shape");
  return wrapped(solid, cells, carved(solid, cells, largest, ctx), ctx);
}

/// The alpha shape itself: nothing is added to it.
Wrapped at_radius(AlphaSolid& solid, const Cells& cells, double alpha_m, OpContext& ctx) {
  Carved found = carved(solid, cells, alpha_m, ctx);
  require(found.alpha_m > 0, "alpha is too small: no part of the crown is closed to a ball of this radius");
  CrownMesh mesh = split_mesh(solid, cells, found.faces, ctx);
  return {std::move(found), std::move(mesh), 0};
}

/// The shape around points of which thin parts were left out.
struct Shape {
  Wrapped wrapped;
  bool holds_enough;
  double solid_m3, growth_of_doubled;
};

Shape shape_of(Span<const Vec3d> exact, std::uint64_t droppable, const AlphaCrownParams& params,
               OpContext& ctx) {
  const Cells cells(exact, kPhase, ctx);
  require(cells.dimension() == 3, kFlatAlphaCrown);
  if (cells.slots() >= kMostSlots)
    throw Error(ErrorCode::kUnsupported,
                "the crown has more than 2^30 tetrahedra; use fewer points (max_points)");
  ctx.begin_phase("Fitting the crown", 0);
  const BulkVector<float> radii = face_radii(cells, ctx);
  AlphaSolid solid(cells, radii, ctx);
  // Strictness counts points, tetrahedra know places: the same share of either may be left outside.
  const double distinct = static_cast<double>(spacing_of(cells, ctx).count);
  const double enough = distinct * (1 - static_cast<double>(droppable) / static_cast<double>(exact.size));
  Shape out{
      params.alpha_m ? at_radius(solid, cells, *params.alpha_m, ctx) : search(solid, cells, enough, ctx),
      true, solid.volume_m3(), 1};
  out.holds_enough = static_cast<double>(out.wrapped.carved.held_count) >= enough;
  if (!params.alpha_m) out.growth_of_doubled = growth_of_doubled(solid, out.wrapped.carved.alpha_m);
  return out;
}

/// Volume of the shape around every second place, drawn by position; 0 if there is no shape.
double volume_of_half(Span<const Vec3d> exact, std::uint64_t droppable, const AlphaCrownParams& params,
                      OpContext& ctx) {
  BulkVector<Vec3d> half;
  for (std::size_t i = 0; i < exact.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (position_hash(exact[i]) % 2 == 0) half.push_back(exact[i]);
  }
  try {
    const Shape shape = shape_of(half.view(), droppable / 2, params, ctx);
    return shape.solid_m3 + shape.wrapped.unseen_m3;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    return 0;
  }
}

/// Volume of the solid of a radius around all points; 0 if there is none.
double volume_at(Span<const Vec3d> points, double alpha_m, OpContext& ctx) {
  const BulkVector<Vec3d> exact = exact_points(points, ctx);
  const Cells cells(exact.view(), kPhase, ctx);
  if (cells.dimension() != 3 || cells.slots() >= kMostSlots) return 0;
  const BulkVector<float> radii = face_radii(cells, ctx);
  AlphaSolid solid(cells, radii, ctx);
  solid.carve(alpha_m);
  return solid.empty() ? 0 : solid.volume_m3();
}

}  // namespace

AlphaCrown alpha_crown(Span<const Vec3d> points, const AlphaCrownParams& params, OpContext& ctx) {
  require(!params.alpha_m || (*params.alpha_m > 0 && std::isfinite(*params.alpha_m)),
          "alpha must be finite and positive");
  ctx.begin_phase(kPhase, points.size);
  std::uint64_t droppable = droppable_points(points.size, params.strictness);
  BulkVector<Vec3d> exact = exact_points(points, ctx);
  if (droppable > 0) droppable = remove_thin_parts(exact, droppable, ctx);
  Shape shape = shape_of(exact.view(), droppable, params, ctx);
  Wrapped& found = shape.wrapped;
  const std::uint64_t count = found.carved.faces.size();
  if (count > params.most_triangles) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "the alpha shape has " + std::to_string(count) + " triangles, more than the " +
            std::to_string(params.most_triangles) +
            " left for it in the answer; use fewer points (max_points), fewer trees or a larger alpha");
  }
  AlphaCrown crown{std::move(found.mesh), 0, 0, found.carved.alpha_m, true, false, 0, 0, 1, 1, 1};
  crown.growth_of_doubled = shape.growth_of_doubled;
  const double own_m3 = shape.solid_m3 + found.unseen_m3;
  crown.share_of_half = volume_of_half(exact.view(), droppable, params, ctx) / own_m3;
  if (exact.size() < points.size)
    crown.share_of_all = volume_at(points, found.carved.alpha_m, ctx) / shape.solid_m3;
  crown.watertight = is_watertight({crown.mesh.triangles.data(), crown.mesh.triangles.size()}, ctx);
  crown.holds_enough = shape.holds_enough;
  crown.enclosed_count = found.carved.held_count;
  crown.highest_z = found.carved.highest_z;
  const double wrapped_m3 = finish_mesh(crown.mesh, ctx).volume_m3;
  const SmoothingBox limit = found.unseen_m3 > 0 ? SmoothingBox::kKept : SmoothingBox::kFree;
  std::vector<Vec3d> edged = crown.mesh.vertices;
  smooth(crown.mesh, params.smoothing_steps, limit, ctx);
  // The mesh has the volume of the solid, or is the solid's: smoothing alone would change it by some percent.
  if (!widen(crown.mesh, wrapped_m3 + found.unseen_m3, ctx) && found.unseen_m3 == 0)
    crown.mesh.vertices.swap(edged);
  const MeshTotals totals = finish_mesh(crown.mesh, ctx);
  crown.volume_m3 = std::max(totals.volume_m3, 0.0);  // the volume of a sheet may round to less
  crown.surface_area_m2 = totals.area_m2;
  return crown;
}

}  // namespace pc

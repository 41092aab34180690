#include "ops/mesh/mesh_packing.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr float kGrey = 0.8f;

void put(Column<float>& to, std::size_t at, const Vec3d& p) {
  to[at] = static_cast<float>(p.x);
  to[at + 1] = static_cast<float>(p.y);
  to[at + 2] = static_cast<float>(p.z);
}

/// Twice the area of the triangle along its normal.
Vec3d area_vector(const Vec3d& p, const Vec3d& q, const Vec3d& r) {
  const Vec3d a = q - p, b = r - p;
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// The vector with length 1; (0, 0, 1) for one without length.
Vec3d unit(const Vec3d& v) {
  const double most = std::fmax(std::fabs(v.x), std::fmax(std::fabs(v.y), std::fabs(v.z)));
  if (!(most > 0) || !std::isfinite(most)) return {0, 0, 1};
  const Vec3d scaled{v.x / most, v.y / most, v.z / most};
  return scaled * (1 / std::sqrt(squared_distance(scaled, {0, 0, 0})));
}

bool is_zero(const Vec3d& v) { return v.x == 0 && v.y == 0 && v.z == 0; }

/// Number of triangles without area, and the box of the vertices in use.
void measure(const PolygonMesh& mesh, const Triangulation& triangles, PackedMesh& out, OpContext& ctx) {
  struct Part {
    Box3d box;
    std::uint64_t flat = 0;
  };
  const std::size_t count = triangles.faces.size();
  std::vector<Part> parts((count + kGrain - 1) / kGrain);
  ctx.begin_phase("Measuring triangles", count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    Part part;
    for (std::size_t t = begin; t < end; ++t) {
      Vec3d p[3];
      for (std::size_t k = 0; k < 3; ++k) {
        p[k] = mesh.positions[mesh.corner_position[triangles.corners[3 * t + k]]];
        part.box.add(p[k]);
      }
      part.flat += is_zero(area_vector(p[0], p[1], p[2])) ? 1 : 0;
    }
    parts[begin / kGrain] = part;
  });
  for (const Part& part : parts) {
    out.bounds.add(part.box);
    out.flat_count += part.flat;
  }
}

class Expander {
 public:
  Expander(const PolygonMesh& mesh, const Triangulation& triangles, PackedMesh& out)
      : mesh_(mesh), triangles_(triangles), out_(out) {}

  void expand(std::size_t triangle) {
    Vec3d p[3];
    bool any_normal = false;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t at = 3 * triangle + k, corner = triangles_.corners[at];
      const std::uint32_t vertex = mesh_.corner_position[corner];
      p[k] = mesh_.positions[vertex];
      put(out_.vertices, 3 * at, p[k]);
      out_.indices[at] = static_cast<std::uint32_t>(at);
      any_normal = put_normal(at, corner) || any_normal;
      if (mesh_.colors.size() != 0) {
        for (std::size_t c = 0; c < 3; ++c)
          out_.colors[3 * at + c] = mesh_.colors[std::size_t{3} * vertex + c];
      }
      if (!mesh_.corner_uv.empty()) put_uv(at, mesh_.corner_uv[corner]);
    }
    if (!any_normal) {
      const Vec3d flat = unit(area_vector(p[0], p[1], p[2]));
      for (std::size_t k = 0; k < 3; ++k) put(out_.normals, 3 * (3 * triangle + k), flat);
    }
    const auto& materials = mesh_.face_material;
    out_.triangle_material[triangle] = materials.empty() ? kNoIndex : materials[triangles_.faces[triangle]];
  }

 private:
  /// False for a corner without normal, whose entry stays zero.
  bool put_normal(std::size_t at, std::size_t corner) {
    const std::uint32_t normal = mesh_.corner_normal.empty() ? kNoIndex : mesh_.corner_normal[corner];
    if (normal == kNoIndex) return false;
    bool any = false;
    for (std::size_t c = 0; c < 3; ++c) {
      const float value = mesh_.normals[std::size_t{3} * normal + c];
      out_.normals[3 * at + c] = value;
      any = any || value != 0;
    }
    return any;
  }
  void put_uv(std::size_t at, std::uint32_t uv) {
    if (uv == kNoIndex) return;
    out_.uvs[2 * at] = mesh_.uvs[std::size_t{2} * uv];
    out_.uvs[2 * at + 1] = 1 - mesh_.uvs[std::size_t{2} * uv + 1];
  }

  const PolygonMesh& mesh_;
  const Triangulation& triangles_;
  PackedMesh& out_;
};

/// Number of each vertex among the finite ones; empty if all are finite.
BulkVector<std::uint32_t> kept_vertices(const PolygonMesh& mesh, std::size_t& count) {
  BulkVector<std::uint32_t> number;
  const std::size_t all = mesh.positions.size();
  count = 0;
  for (std::size_t i = 0; i < all; ++i) count += is_finite(mesh.positions[i]) ? 1 : 0;
  if (count == all) return number;
  number.resize(all);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < all; ++i) number[i] = is_finite(mesh.positions[i]) ? next++ : kNoIndex;
  return number;
}

/// One thread: sums of floats in triangle order.
Column<float> vertex_normals(const PolygonMesh& mesh, const PackedMesh& packed,
                             const Triangulation& triangles, OpContext& ctx) {
  const std::size_t vertices = packed.vertices.size() / 3;
  BulkVector<Vec3d> sums(vertices);
  ctx.begin_phase("Computing normals", triangles.faces.size());
  for (std::size_t t = 0; t < triangles.faces.size(); ++t) {
    if (t % kGrain == 0) {
      ctx.checkpoint();
      ctx.advance(kGrain);
    }
    Vec3d p[3];
    for (std::size_t k = 0; k < 3; ++k) {
      p[k] = mesh.positions[mesh.corner_position[triangles.corners[3 * t + k]]];
    }
    const Vec3d area = area_vector(p[0], p[1], p[2]);
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3d& sum = sums[packed.indices[3 * t + k]];
      sum = sum + area;
    }
  }
  Column<float> normals(3 * vertices);
  parallel_for(ctx, vertices, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) put(normals, 3 * v, unit(sums[v]));
  });
  return normals;
}

void check_index(std::uint32_t material, std::size_t materials) {
  if (material == kNoIndex || material < materials) return;
  throw Error(ErrorCode::kInvalidArgument,
              "a triangle has material " + std::to_string(material) + " of " + std::to_string(materials));
}

}  // namespace

PackedMesh expand_triangles(const PolygonMesh& mesh, const Triangulation& triangles, OpContext& ctx) {
  const std::size_t count = triangles.faces.size();
  PackedMesh out;
  measure(mesh, triangles, out, ctx);
  out.vertices = Column<float>(9 * count);
  out.indices = Column<std::uint32_t>(3 * count);
  out.normals = Column<float>(9 * count);
  if (mesh.colors.size() != 0) out.colors = Column<float>(9 * count);
  if (!mesh.corner_uv.empty()) out.uvs = Column<float>(6 * count);
  out.triangle_material = Column<std::uint32_t>(count);
  Expander expander(mesh, triangles, out);
  ctx.begin_phase("Packing triangles", count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) expander.expand(t);
  });
  return out;
}

PackedMesh share_vertices(const PolygonMesh& mesh, const Triangulation& triangles, OpContext& ctx) {
  const std::size_t all = mesh.positions.size(), count = triangles.faces.size();
  const bool has_normals = mesh.normals.size() != 0, has_colors = mesh.colors.size() != 0;
  if (has_normals && mesh.normals.size() != 3 * all) {
    throw Error(ErrorCode::kInternal, "normals of another number of vertices");
  }
  PackedMesh out;
  measure(mesh, triangles, out, ctx);
  std::size_t kept = 0;
  const BulkVector<std::uint32_t> number = kept_vertices(mesh, kept);
  ctx.checkpoint();
  out.vertices = Column<float>(3 * kept);
  out.indices = Column<std::uint32_t>(3 * count);
  if (has_normals) out.normals = Column<float>(3 * kept);
  if (has_colors) out.colors = Column<float>(3 * kept);
  ctx.begin_phase("Packing vertices", all);
  parallel_for(ctx, all, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t to = number.empty() ? i : number[i];
      if (to == kNoIndex) continue;
      put(out.vertices, 3 * to, mesh.positions[i]);
      for (std::size_t c = 0; has_normals && c < 3; ++c) out.normals[3 * to + c] = mesh.normals[3 * i + c];
      for (std::size_t c = 0; has_colors && c < 3; ++c) out.colors[3 * to + c] = mesh.colors[3 * i + c];
    }
  });
  parallel_for(ctx, 3 * count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t vertex = mesh.corner_position[triangles.corners[i]];
      out.indices[i] = number.empty() ? vertex : number[vertex];
    }
  });
  if (!has_normals) out.normals = vertex_normals(mesh, out, triangles, ctx);
  return out;
}

Column<float> paint_triangles(Span<const std::uint32_t> triangle_material,
                              const std::vector<float>& material_colors, Span<const float> vertex_colors,
                              OpContext& ctx) {
  const std::size_t count = triangle_material.size, materials = material_colors.size() / 3;
  require(vertex_colors.empty() || vertex_colors.size == 9 * count,
          "vertex_colors must be nine per triangle");
  require(material_colors.size() % 3 == 0, "material_colors must be three per material");
  Column<float> out(9 * count);
  ctx.begin_phase("Packing colours", count);
  parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::uint32_t material = triangle_material[t];
      check_index(material, materials);
      const float* const own = material == kNoIndex ? nullptr : &material_colors[std::size_t{3} * material];
      for (std::size_t i = 9 * t; i < 9 * t + 9; ++i) {
        if (own != nullptr && !std::isnan(own[i % 3])) {
          out[i] = own[i % 3];
        } else {
          out[i] = vertex_colors.empty() || std::isnan(vertex_colors[i]) ? kGrey : vertex_colors[i];
        }
      }
    }
  });
  return out;
}

MaterialGroups group_triangles(Span<const std::uint32_t> triangle_material, std::size_t material_count,
                               OpContext& ctx) {
  MaterialGroups out;
  out.firsts.assign(material_count + 1, 0);
  ctx.begin_phase("Grouping triangles", triangle_material.size);
  for (std::size_t t = 0; t < triangle_material.size; ++t) {
    if (t % kGrain == 0) ctx.checkpoint();
    check_index(triangle_material[t], material_count);
    if (triangle_material[t] != kNoIndex) ++out.firsts[triangle_material[t] + 1];
  }
  for (std::size_t m = 0; m < material_count; ++m) out.firsts[m + 1] += out.firsts[m];
  out.triangles = Column<std::uint32_t>(out.firsts[material_count]);
  std::vector<std::uint64_t> next(out.firsts.begin(), out.firsts.end());
  for (std::size_t t = 0; t < triangle_material.size; ++t) {
    if (t % kGrain == 0) ctx.checkpoint();
    const std::uint32_t material = triangle_material[t];
    if (material != kNoIndex) out.triangles[next[material]++] = static_cast<std::uint32_t>(t);
  }
  return out;
}

}  // namespace pc

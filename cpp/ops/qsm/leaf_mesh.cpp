#include "ops/qsm/leaf_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kVerticesPerBlock = 65536;

std::array<double, 3> parts(const Vec3d& v) { return {v.x, v.y, v.z}; }

/// Vertex or normal i of a list of floats.
Vec3d triple(Span<const float> values, std::size_t i) {
  return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}

/// The axes of a mesh in the frame of a leaf.
struct Turn {
  std::array<std::size_t, 3> axes;
  double last_sign;
  Vec3d operator()(const Vec3d& v) const {
    const auto in = parts(v);
    return {in[axes[0]], in[axes[1]], last_sign * in[axes[2]]};
  }
};

/// Longest axis first, the first of equals.
Turn turn_of(const Vec3d& extent) {
  const auto e = parts(extent);
  const auto longest = static_cast<std::size_t>(std::max_element(e.begin(), e.end()) - e.begin());
  if (longest == 0) return {{0, 1, 2}, 1};
  if (longest == 1) return {{1, 0, 2}, -1};  // two axes swapped: an odd permutation mirrors
  return {{2, 0, 1}, 1};
}

Vec3d in_basis(const Leaf& leaf, const Vec3d& v) {
  return leaf.tip * v.x + leaf.width * v.y + leaf.normal * v.z;
}

}  // namespace

LeafTemplate quad_leaf(double aspect) {
  require(std::isfinite(aspect) && aspect > 0, "the aspect of a leaf must be finite and positive");
  const double half = aspect / 2;
  const std::array<Vec3d, 4> corners{{{0, -half, 0}, {0, half, 0}, {1, half, 0}, {1, -half, 0}}};
  LeafTemplate out;
  for (const std::size_t corner : {0, 1, 2, 0, 2, 3}) {
    const Vec3d& at = corners[corner];
    out.vertices.push_back(at);
    out.normals.push_back({0, 0, 1});
    out.uvs.push_back(static_cast<float>(at.x));
    out.uvs.push_back(at.y < 0 ? 1.0f : 0.0f);
  }
  out.material = {0, 0};
  return out;
}

LeafTemplate mesh_leaf(Span<const float> vertices, Span<const float> normals, Span<const float> uvs,
                       Span<const std::uint32_t> material) {
  const std::size_t count = vertices.size / 3;
  require(count > 0 && vertices.size % 9 == 0, "the mesh of the leaf has no triangles");
  require(normals.size == vertices.size, "normals are three numbers per vertex");
  require(uvs.size == 0 || uvs.size == 2 * count, "texture coordinates are two numbers per vertex");
  require(material.size == 0 || material.size == count / 3, "materials are one number per triangle");
  Box3d box;
  for (std::size_t i = 0; i < count; ++i) box.add(triple(vertices, i));
  const Vec3d extent = box.max - box.min, middle = (box.max + box.min) * 0.5;
  const Turn turn = turn_of(extent);
  const Vec3d turned = turn(extent);
  require(std::isfinite(turned.x) && turned.x > 0, "the mesh of the leaf has no extent");
  LeafTemplate out;
  out.vertices.reserve(count);
  out.normals.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d from_middle = turn(triple(vertices, i) - middle);
    out.vertices.push_back(Vec3d{from_middle.x + turned.x / 2, from_middle.y, from_middle.z} *
                           (1 / turned.x));
    out.normals.push_back(turn(triple(normals, i)));
  }
  out.uvs.assign(uvs.begin(), uvs.end());
  out.material.assign(material.begin(), material.end());
  return out;
}

LeafMesh leaf_mesh(const std::vector<Leaf>& leaves, double length_m, const LeafTemplate& shape,
                   OpContext& ctx) {
  const std::size_t per_leaf = shape.vertices.size(), total = per_leaf * leaves.size();
  require(total < 0xffffffffu, "the leaves have more vertices than an index can name");
  ctx.begin_phase("Packing leaves", leaves.size());
  LeafMesh out{Column<double>(3 * total), Column<float>(3 * total),
               Column<float>(shape.uvs.empty() ? 0 : 2 * total),
               Column<std::uint32_t>(shape.material.empty() ? 0 : total / 3)};
  const std::size_t grain = std::max<std::size_t>(1, kVerticesPerBlock / std::max<std::size_t>(1, per_leaf));
  parallel_for(ctx, leaves.size(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t l = begin; l < end; ++l) {
      const Leaf& leaf = leaves[l];
      const std::size_t first = l * per_leaf;
      for (std::size_t i = 0; i < per_leaf; ++i) {
        const auto at = parts(leaf.base + in_basis(leaf, shape.vertices[i]) * length_m);
        const auto normal = parts(in_basis(leaf, shape.normals[i]));
        for (std::size_t k = 0; k < 3; ++k) {
          out.vertices[3 * (first + i) + k] = at[k];
          out.normals[3 * (first + i) + k] = static_cast<float>(normal[k]);
        }
      }
      if (!shape.uvs.empty())
        std::copy(shape.uvs.begin(), shape.uvs.end(), out.uvs.view().begin() + 2 * first);
      if (!shape.material.empty())
        std::copy(shape.material.begin(), shape.material.end(), out.materials.view().begin() + first / 3);
    }
  });
  return out;
}

std::uint64_t leaf_mesh_bytes(std::uint64_t triangle_count) { return triangle_count * (72 + 36 + 24 + 4); }

}  // namespace pc

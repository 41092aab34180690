#include "ops/lad/folded_triangles.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kChecked = std::size_t{1} << 16;  // triangles between two checks for a cancel

/// The triangles at each vertex, in their order.
class Corners {
 public:
  Corners(std::size_t vertices, Span<const std::uint32_t> indices, OpContext& ctx)
      : indices_(indices), end_(vertices), triangles_(indices.size) {
    for (std::size_t i = 0; i < indices.size; ++i) {
      if (i % kChecked == 0) ctx.checkpoint();
      ++end_[indices[i]];
    }
    std::uint32_t before = 0;
    for (std::size_t v = 0; v < vertices; ++v) {
      if (v % kChecked == 0) ctx.checkpoint();
      const std::uint32_t count = end_[v];
      end_[v] = before;
      before += count;
    }
    for (std::size_t i = 0; i < indices.size; ++i) {
      if (i % kChecked == 0) ctx.checkpoint();
      triangles_[end_[indices[i]]++] = static_cast<std::uint32_t>(i / 3);
    }
  }

  /// Calls visit(other) for the other triangles with the edge from `a` to `b`, until one returns false.
  template <class Visit>
  void at_edge(std::size_t triangle, std::uint32_t a, std::uint32_t b, Visit&& visit) const {
    if (end_[a] - begin(a) > end_[b] - begin(b)) std::swap(a, b);  // the hub of a fan has many
    for (std::uint32_t k = begin(a); k < end_[a]; ++k) {
      const std::uint32_t other = triangles_[k];
      const std::uint32_t* corner = indices_.data + 3 * std::size_t{other};
      const bool shared = corner[0] == b || corner[1] == b || corner[2] == b;
      if (other != triangle && shared && !visit(other)) return;
    }
  }

 private:
  std::uint32_t begin(std::uint32_t vertex) const { return vertex == 0 ? 0 : end_[vertex - 1]; }

  Span<const std::uint32_t> indices_;
  BulkVector<std::uint32_t> end_, triangles_;
};

Vec3d normal_of(Span<const Vec3d> vertices, const std::uint32_t* corner) {
  const Vec3d a = vertices[corner[0]];
  return cross(vertices[corner[1]] - a, vertices[corner[2]] - a);
}

/// Whether the planes of these normals, of any length and sign, are within kMostFold of each other.
bool flat(const Vec3d& a, const Vec3d& b) {
  static const double kLeast = std::cos(kMostFold) * std::cos(kMostFold);
  const double product = dot(a, b), sizes = dot(a, a) * dot(b, b);
  return sizes > 0 && product * product >= kLeast * sizes;
}

}  // namespace

BulkVector<std::uint8_t> folded_triangles(Span<const Vec3d> vertices, Span<const std::uint32_t> indices,
                                          OpContext& ctx) {
  require(indices.size < (std::uint64_t{1} << 32), "a mesh of 2^32 corners and more");
  const Corners corners(vertices.size, indices, ctx);
  BulkVector<std::uint8_t> folded(indices.size / 3);
  parallel_for(ctx, folded.size(), std::size_t{1} << 12, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const std::uint32_t* corner = indices.data + 3 * t;
      const Vec3d normal = normal_of(vertices, corner);
      bool alone = true, goes_on = false;
      for (int k = 0; k < 3 && !goes_on; ++k)
        corners.at_edge(t, corner[k], corner[(k + 1) % 3], [&](std::size_t other) {
          alone = false;
          goes_on = flat(normal, normal_of(vertices, indices.data + 3 * other));
          return !goes_on;
        });
      folded[t] = alone || goes_on ? 0 : 1;
    }
  });
  return folded;
}

}  // namespace pc

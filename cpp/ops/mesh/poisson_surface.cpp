#include "ops/mesh/poisson_surface.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/mesh/poisson_loops.h"

namespace pc::poisson_detail {

namespace {

constexpr std::size_t kGrain = 4096;
/// A vertex keeps this share of its edge from the corners, so that no triangle is flat because three vertices meet.
constexpr double kFromCorner = 1e-3;

/// An edge that starts at corner `corner` of a cell and runs toward higher `axis`.
struct CellEdge {
  std::uint32_t depth, cell, corner, axis;
};

class Extraction {
 public:
  Extraction(const std::vector<Level>& levels, double iso, OpContext& ctx)
      : levels_(levels), iso_(iso), ctx_(ctx), crossing_(levels.size()) {}

  UnitMesh run() {
    for (std::uint32_t d = 0; d < levels_.size(); ++d) place_vertices(d);
    for (std::uint32_t d = 0; d < levels_.size(); ++d) cut_leaves(d);
    return std::move(mesh_);
  }

 private:
  struct Part {
    std::vector<std::uint32_t> triangles;
    std::vector<Vec3d> middles;
  };

  double height(const Level& level, std::uint32_t vertex) const { return level.value[vertex] - iso_; }

  /// The far end of the edge from a vertex if it is an edge of a cell and no smaller cell divides it; else kNone.
  std::uint32_t far_end(const Level& level, std::size_t vertex, std::uint32_t axis) const {
    std::uint32_t end = kNone;
    for (std::uint32_t c = 0; c < 8; ++c) {
      const std::uint32_t cell = level.incident[8 * vertex + c];
      if ((c >> axis & 1U) != 0 || cell == kNone) continue;
      if (level.child[cell] != kNone) return kNone;
      end = level.corner[8 * std::size_t{cell} + (c | 1U << axis)];
    }
    return end;
  }

  /// Numbers the vertices of the surface on the edges of one level.
  void place_vertices(std::uint32_t d) {
    const Level& level = levels_[d];
    BulkVector<std::uint32_t>& crossing = crossing_[d];
    crossing.resize(3 * level.vertex_count());
    std::vector<std::size_t> count((level.vertex_count() + kGrain - 1) / kGrain + 1, 0);
    parallel_for(ctx_, level.vertex_count(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::size_t found = 0;
      for (std::size_t v = begin; v < end; ++v) {
        for (std::uint32_t axis = 0; axis < 3; ++axis) {
          const std::uint32_t to = far_end(level, v, axis);
          const bool crosses =
              to != kNone && (height(level, static_cast<std::uint32_t>(v)) < 0) != (height(level, to) < 0);
          crossing[3 * v + axis] = crosses ? to : kNone;
          found += crosses ? 1 : 0;
        }
      }
      count[begin / kGrain + 1] = found;
    });
    count[0] = mesh_.vertices.size();
    for (std::size_t b = 1; b < count.size(); ++b) count[b] += count[b - 1];
    check_size(count.back());
    mesh_.vertices.resize(count.back());
    parallel_for(ctx_, level.vertex_count(), kGrain, [&](std::size_t begin, std::size_t end) {
      auto next = static_cast<std::uint32_t>(count[begin / kGrain]);
      for (std::size_t i = 3 * begin; i < 3 * end; ++i) {
        if (crossing[i] == kNone) continue;
        mesh_.vertices[next] = place(level, i / 3, crossing[i], i % 3);
        crossing[i] = next++;
      }
    });
  }

  Vec3d place(const Level& level, std::size_t from, std::uint32_t to, std::size_t axis) const {
    const std::uint32_t found = level.a_cell_at(from);
    const CellPlace cell = morton_decode(level.key[level.incident[found]]);
    const double a = height(level, static_cast<std::uint32_t>(from)), b = height(level, to);
    const double share = std::clamp(a / (a - b), kFromCorner, 1 - kFromCorner);
    const double h = std::ldexp(1.0, -static_cast<int>(level.depth));
    const auto at = [&](std::uint32_t origin, std::uint32_t k) {
      return (origin + (found >> k & 1U) + (axis == k ? share : 0)) * h;
    };
    return {at(cell.x, 0), at(cell.y, 1), at(cell.z, 2)};
  }

  static void check_size(std::size_t vertices) {
    if (vertices >= kFirstMiddle)
      throw Error(ErrorCode::kUnsupported, "the surface has 2^31 vertices or more");
  }

  /// The vertex on an edge whose ends have different signs: on the smallest part of the edge where they differ.
  std::uint32_t vertex_on(CellEdge edge) const {
    for (;;) {
      const Level& level = levels_[edge.depth];
      const std::uint32_t start = level.corner[8 * std::size_t{edge.cell} + edge.corner];
      std::uint32_t c = 0;
      for (; c < 8; ++c) {
        const std::uint32_t cell = level.incident[8 * std::size_t{start} + c];
        if ((c >> edge.axis & 1U) == 0 && cell != kNone && level.child[cell] != kNone) break;
      }
      if (c == 8) return crossing_[edge.depth][3 * std::size_t{start} + edge.axis];
      const Level& finer = levels_[edge.depth + 1];
      const std::uint32_t children = 8 * level.child[level.incident[8 * std::size_t{start} + c]];
      const std::uint32_t* const corners = finer.corner.data() + 8 * std::size_t{children + c};
      const bool first_half =
          (height(finer, corners[c]) < 0) != (height(finer, corners[c | 1U << edge.axis]) < 0);
      edge = {edge.depth + 1, children + (first_half ? c : c | 1U << edge.axis), c, edge.axis};
    }
  }

  /// Segments on side `side` (0 low, 1 high) of a cell, or of the smaller cells there. `outward` is the side of the leaf
  /// whose outline is made.
  void outline(std::uint32_t d, std::uint32_t cell, std::uint32_t axis, std::uint32_t side,
               std::uint32_t outward, LeafLoops& loops) const {
    const Level& level = levels_[d];
    if (level.child[cell] != kNone) {
      for (std::uint32_t o = 0; o < 8; ++o)
        if ((o >> axis & 1U) == side) outline(d + 1, 8 * level.child[cell] + o, axis, side, outward, loops);
      return;
    }
    const std::uint32_t u = 1U << (axis + 1) % 3, v = 1U << (axis + 2) % 3, base = side << axis;
    std::uint32_t around[4] = {base, base | u, base | u | v,
                               base | v};  // counter-clockwise seen from higher `axis`
    if (outward == 0) std::swap(around[1], around[3]);
    double f[4];
    int below = 0;
    for (int i = 0; i < 4; ++i) {
      f[i] = height(level, level.corner[8 * std::size_t{cell} + around[i]]);
      below += f[i] < 0 ? 1 : 0;
    }
    if (below == 0 || below == 4) return;
    const auto vertex = [&](int i) {
      const std::uint32_t a = around[i], b = around[(i + 1) % 4], along = a ^ b;
      return vertex_on({d, cell, a & b, along == 1 ? 0U : along == 2 ? 1U : 2U});
    };
    std::uint32_t enter[2],
        leave[2];  // where the walk round the face comes below, and where it then goes above again
    int pairs = 0;
    for (int i = 0; i < 4; ++i) {
      if (f[i] < 0 || f[(i + 1) % 4] >= 0) continue;
      enter[pairs] = vertex(i);
      int j = i + 1;
      while (f[(j + 1) % 4] < 0) ++j;
      leave[pairs++] = vertex(j % 4);
    }
    if (pairs == 2) {
      const bool even = f[0] < 0;
      const double low = even ? f[0] * f[2] : f[1] * f[3], high = even ? f[1] * f[3] : f[0] * f[2];
      if (low > high) std::swap(leave[0], leave[1]);  // the saddle is below: both corners below are connected
    }
    const std::uint32_t face = 2 * axis + outward;
    for (int i = 0; i < pairs; ++i) loops.add(enter[i], leave[i], face);
  }

  bool is_cut(const Level& level, std::size_t cell) const {
    int below = 0;
    for (std::size_t c = 0; c < 8; ++c) below += height(level, level.corner[8 * cell + c]) < 0 ? 1 : 0;
    return below != 0 && below != 8;
  }

  void outline_leaf(std::uint32_t d, std::uint32_t cell, LeafLoops& loops) const {
    const Level& level = levels_[d];
    loops.clear();
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      for (std::uint32_t side = 0; side < 2; ++side) {
        const std::uint32_t corner = side << axis, vertex = level.corner[8 * std::size_t{cell} + corner];
        const std::uint32_t next = level.incident[8 * std::size_t{vertex} + (corner ^ 1U << axis)];
        if (next != kNone && level.child[next] != kNone)
          outline(d, next, axis, 1 - side, side, loops);
        else
          outline(d, cell, axis, side, side, loops);
      }
    }
  }

  void cut_leaves(std::uint32_t d) {
    const Level& level = levels_[d];
    std::vector<Part> parts((level.cell_count() + kGrain - 1) / kGrain);
    parallel_for(ctx_, level.cell_count(), kGrain, [&](std::size_t begin, std::size_t end) {
      Part& part = parts[begin / kGrain];
      LeafLoops loops;
      for (std::size_t cell = begin; cell < end; ++cell) {
        if (level.child[cell] != kNone || !is_cut(level, cell)) continue;
        outline_leaf(d, static_cast<std::uint32_t>(cell), loops);
        loops.triangulate(mesh_.vertices.data(), kFirstMiddle, part.middles, part.triangles);
      }
    });
    for (Part& part : parts) {
      ctx_.checkpoint();
      const std::size_t first = mesh_.vertices.size();
      check_size(first + part.middles.size());
      for (const Vec3d& middle : part.middles) mesh_.vertices.push_back(middle);
      for (const std::uint32_t index : part.triangles)
        mesh_.indices.push_back(
            index < kFirstMiddle ? index : static_cast<std::uint32_t>(index - kFirstMiddle + first));
      part = Part();
    }
  }

  /// Middles are numbered from here within a part.
  static constexpr std::uint32_t kFirstMiddle = 0x80000000U;

  const std::vector<Level>& levels_;
  double iso_;
  OpContext& ctx_;
  std::vector<BulkVector<std::uint32_t>> crossing_;  ///< (3 V) of each level: vertex on the edge, or kNone
  UnitMesh mesh_;
};

}  // namespace

UnitMesh extract_surface(const std::vector<Level>& levels, double iso, OpContext& ctx) {
  return Extraction(levels, iso, ctx).run();
}

}  // namespace pc::poisson_detail

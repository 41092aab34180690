#include "spatial/delaunay_tetrahedra.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/error.h"
#include "core/parallel.h"
#include "spatial/hilbert_order.h"

namespace pc {

namespace {

constexpr std::uint32_t kPollSteps = 1024;
constexpr std::uint32_t kPollPoints = 1024;

/// Whether (b - a) x (c - a) is zero; exact.
bool on_line(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return orient_2d({a.x, a.y}, {b.x, b.y}, {c.x, c.y}) == 0 &&
         orient_2d({a.y, a.z}, {b.y, b.z}, {c.y, c.z}) == 0 &&
         orient_2d({a.z, a.x}, {b.z, b.x}, {c.z, c.x}) == 0;
}

}  // namespace

DelaunayTetrahedra::DelaunayTetrahedra(Span<const Vec3d> points, const char* phase, OpContext& ctx) {
  require(points.size < (std::size_t{1} << 30), "at most 2^30 points can be tetrahedralized");
  order_ = hilbert_insertion_order(points, ctx);
  vertices_.resize(points.size);
  parallel_for(ctx, points.size, std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) vertices_[i] = points[order_[i]];
  });
  std::array<std::uint32_t, 4> first{};
  first_simplex(first, ctx);
  if (dimension_ < 3) return;
  start(first);
  ctx.begin_phase(phase, vertices_.size());
  for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
    if (v % kPollPoints == 0) {
      ctx.checkpoint();
      ctx.advance(std::min<std::size_t>(kPollPoints, vertices_.size() - v));
    }
    if (std::find(first.begin(), first.end(), v) == first.end()) insert(v, ctx);
  }
}

/// The first vertices that are not on one place, line and plane.
void DelaunayTetrahedra::first_simplex(std::array<std::uint32_t, 4>& corner, const OpContext& ctx) {
  if (vertices_.empty()) return;
  dimension_ = 0;
  const auto& at = vertices_;
  for (std::uint32_t v = 1; v < at.size() && dimension_ < 3; ++v) {
    if (v % kPollPoints == 0) ctx.checkpoint();
    if (dimension_ == 0 && !(at[v] == at[0])) {
      corner[1] = v;
      dimension_ = 1;
    } else if (dimension_ == 1 && !on_line(at[0], at[corner[1]], at[v])) {
      corner[2] = v;
      dimension_ = 2;
    } else if (dimension_ == 2) {
      const int side = orient_3d(at[0], at[corner[1]], at[corner[2]], at[v]);
      if (side == 0) continue;
      corner[3] = v;
      dimension_ = 3;
      if (side < 0) std::swap(corner[0], corner[1]);
    }
  }
}

/// One tetrahedron, and behind each of its faces one at infinity.
void DelaunayTetrahedra::start(const std::array<std::uint32_t, 4>& corner) {
  cells_.reserve(7 * vertices_.size() + 16);
  mark_.reserve(7 * vertices_.size() + 16);
  cells_.resize(5);
  mark_.resize(5);
  edges_.resize(1024);
  cells_[0].corner = corner;
  stamp_ = 1;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t slot = i + 1;
    Cell& outer = cells_[slot];
    const auto& face = kFace[i];
    outer.corner = {corner[face[1]], corner[face[0]], corner[face[2]],
                    kInfinite};  // the infinite vertex is outside
    outer.neighbor[3] = i;
    cells_[0].neighbor[i] = 4 * slot + 3;
    join(slot, 3);
  }
}

std::uint32_t DelaunayTetrahedra::locate(const Vec3d& p, const OpContext& ctx) const {
  std::uint32_t at = newest_;
  {
    const std::size_t infinite = infinite_corner(cells_[at]);
    if (infinite < 4) at = cells_[at].neighbor[infinite] >> 2;
  }
  std::size_t entry = 4;
  for (std::uint32_t step = 1;; ++step) {
    if (step % kPollSteps == 0) ctx.checkpoint();
    const Cell& cell = cells_[at];
    if (infinite_corner(cell) < 4) return at;
    std::size_t exit = 4;
    for (std::size_t i = 0; i < 4 && exit == 4; ++i) {
      if (i == entry) continue;
      std::array<const Vec3d*, 4> corner{};
      for (std::size_t k = 0; k < 4; ++k) corner[k] = &vertices_[cell.corner[k]];
      corner[i] = &p;
      if (orient_3d(*corner[0], *corner[1], *corner[2], *corner[3]) < 0) exit = i;
    }
    if (exit == 4) return at;
    const std::uint32_t next = cell.neighbor[exit];
    at = next >> 2;
    entry = next & 3;
  }
}

bool DelaunayTetrahedra::finite_conflicts(const Cell& cell, const Vec3d& p) const {
  const auto& c = cell.corner;
  return in_perturbed_sphere(vertices_[c[0]], vertices_[c[1]], vertices_[c[2]], vertices_[c[3]], p) > 0;
}

/// Whether the sphere of the cell contains p. At infinity that sphere is the half-space beyond the face of the hull, and
/// in the plane of the face its circle, which the sphere of the cell behind the face cuts out of the plane.
bool DelaunayTetrahedra::conflicts(std::uint32_t slot, const Vec3d& p) const {
  const Cell& cell = cells_[slot];
  const std::size_t infinite = infinite_corner(cell);
  if (infinite == 4) return finite_conflicts(cell, p);
  std::array<const Vec3d*, 4> corner{};
  for (std::size_t k = 0; k < 4; ++k) corner[k] = k == infinite ? &p : &vertices_[cell.corner[k]];
  const int side = orient_3d(*corner[0], *corner[1], *corner[2], *corner[3]);
  return side != 0 ? side > 0 : finite_conflicts(cells_[cell.neighbor[infinite] >> 2], p);
}

void DelaunayTetrahedra::insert(std::uint32_t vertex, const OpContext& ctx) {
  const Vec3d& p = vertices_[vertex];
  const std::uint32_t first = locate(p, ctx);
  for (const std::uint32_t corner : cells_[first].corner) {
    if (corner != kInfinite && vertices_[corner] == p)
      return;  // a repeated point is a corner of the cell it is in
  }
  gather(first, vertex, ctx);
  fill(vertex, ctx);
}

/// The cells whose spheres contain the vertex, and the faces around them.
void DelaunayTetrahedra::gather(std::uint32_t first, std::uint32_t vertex, const OpContext& ctx) {
  const Vec3d& p = vertices_[vertex];
  const std::uint32_t in = 2 * vertex + 1, out = 2 * vertex + 2;
  replaced_.clear();
  rim_.clear();
  replaced_.push_back(first);
  mark_[first] = in;
  for (std::size_t k = 0; k < replaced_.size(); ++k) {
    if ((k + 1) % kPollSteps == 0) ctx.checkpoint();
    const Cell& cell = cells_[replaced_[k]];
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t behind = cell.neighbor[i], slot = behind >> 2;
      if (mark_[slot] == in) continue;
      if (mark_[slot] != out && conflicts(slot, p)) {
        mark_[slot] = in;
        replaced_.push_back(slot);
        continue;
      }
      mark_[slot] = out;
      Rim rim{cell.corner, behind, i};
      rim.corner[i] = vertex;
      rim_.push_back(rim);
    }
  }
}

/// Replaces the gathered cells by one for each face around them, with the new vertex as the fourth corner.
void DelaunayTetrahedra::fill(std::uint32_t vertex, const OpContext& ctx) {
  while (edges_.size() < 3 * rim_.size()) edges_.resize(2 * edges_.size());
  ++stamp_;
  const std::size_t reused = std::min(replaced_.size(), rim_.size());
  for (std::size_t k = reused; k < replaced_.size(); ++k) {
    cells_[replaced_[k]].corner = {kInfinite, kInfinite, kInfinite, kInfinite};
    spare_.push_back(replaced_[k]);
  }
  for (std::size_t k = 0; k < rim_.size(); ++k) {
    if ((k + 1) % kPollSteps == 0) ctx.checkpoint();
    const Rim rim = rim_[k];
    const std::uint32_t slot = new_slot(k);
    Cell& cell = cells_[slot];
    cell.corner = rim.corner;
    cell.neighbor[rim.place] = rim.behind;
    cells_[rim.behind >> 2].neighbor[rim.behind & 3] = 4 * slot + rim.place;
    join(slot, rim.place);
    newest_ = slot;
  }
  if (vertex != vertices_.size() - 1) return;
  spare_.reset();
}

std::uint32_t DelaunayTetrahedra::new_slot(std::size_t use) {
  if (use < replaced_.size()) return replaced_[use];
  if (!spare_.empty()) {
    const std::uint32_t slot = spare_.back();
    spare_.resize(spare_.size() - 1);
    return slot;
  }
  if (cells_.size() > kMostTetrahedraPerPoint * vertices_.size() + 4096) {
    throw Error(
        ErrorCode::kOutOfMemory,
        "these points have more than " + std::to_string(kMostTetrahedraPerPoint) +
            " tetrahedra each, because many of them lie on a few curves; thin them or use another method");
  }
  cells_.push_back({});
  mark_.push_back(0);
  return static_cast<std::uint32_t>(cells_.size() - 1);
}

/// Joins the three faces of a new cell that meet in its corner `apex` to those of the other new cells. Two of them share
/// each edge opposite the apex.
void DelaunayTetrahedra::join(std::uint32_t slot, std::size_t apex) {
  const std::array<std::uint32_t, 4> corner = cells_[slot].corner;
  const std::size_t mask = edges_.size() - 1;
  for (std::size_t j = 0; j < 4; ++j) {
    if (j == apex) continue;
    std::array<std::uint32_t, 2> ends{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (k != j && k != apex) ends[count++] = corner[k];
    const auto [low, high] = std::minmax(ends[0], ends[1]);
    const std::uint64_t key = std::uint64_t{low} << 32 | high;
    const std::uint32_t face = 4 * slot + static_cast<std::uint32_t>(j);
    std::size_t at = (key * 0x9e3779b97f4a7c15ULL) >> 20 & mask;
    while (edges_[at].stamp == stamp_ && edges_[at].key != key) at = (at + 1) & mask;
    HalfEdge& edge = edges_[at];
    if (edge.stamp != stamp_) {
      edge = {key, stamp_, face};
      continue;
    }
    cells_[slot].neighbor[j] = edge.face;
    cells_[edge.face >> 2].neighbor[edge.face & 3] = face;
  }
}

}  // namespace pc

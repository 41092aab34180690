#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "spatial/predicates.h"

namespace pc {

/// Most tetrahedra per point: surfaces and volumes have 6 to 8; points on two skew lines have n / 4 and are refused.
inline constexpr std::uint64_t kMostTetrahedraPerPoint = 64;
/// Bytes of memory per point that a triangulation of a scanned object needs.
inline constexpr std::uint64_t kDelaunayBytesPerPoint = 420;

/// Delaunay tetrahedralization of points in space. Every sign is exact and ties are broken by a perturbation, so no
/// input is degenerate: grids, coplanar, cospherical and repeated points give tetrahedra of positive volume that fill
/// the convex hull once.
///
/// points   (n) metres; finite, within kMostCoordinate, as exact_point makes them. Repeated points count once.
/// Order    Which tetrahedra there are is a function of the set of points; their order also depends on that of the
///          points. The same for any thread count.
/// Cost     O(n log n) expected for scans of objects; one thread. kDelaunayBytesPerPoint.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument beyond 2^30 points, kOutOfMemory beyond kMostTetrahedraPerPoint.
/// Source   Incremental insertion: Bowyer 1981, Watson 1981, Computer Journal 24; walk to the insertion place: Guibas &
///          Stolfi 1985; a vertex at infinity closes the hull.
class DelaunayTetrahedra {
 public:
  static constexpr std::uint32_t kInfinite = 0xFFFFFFFF;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  /// `phase`: name of the phase in which points are inserted, which counts them.
  DelaunayTetrahedra(Span<const Vec3d> points, const char* phase, OpContext& ctx);

  /// 3, or 2, 1, 0, -1 if all points lie on a plane, on a line, at one place, or there are none: no tetrahedra then.
  int dimension() const { return dimension_; }
  /// Number of slots that corners() can be asked for.
  std::size_t slots() const { return cells_.size(); }
  /// Whether the slot holds a tetrahedron: neither one at infinity nor an unused slot.
  bool is_finite_cell(std::size_t slot) const { return infinite_corner(cells_[slot]) == 4; }
  /// Vertices of a tetrahedron with positive volume.
  const std::array<std::uint32_t, 4>& corners(std::size_t slot) const { return cells_[slot].corner; }
  /// Slot behind the face opposite corner i, which may be one at infinity.
  std::uint32_t neighbor(std::size_t slot, std::size_t i) const { return cells_[slot].neighbor[i] >> 2; }
  /// Corners of the face opposite corner i, as numbers 0 to 3: counter-clockwise seen from outside.
  static constexpr std::array<std::array<std::uint8_t, 3>, 4> kFace{
      {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}}};

  /// Vertices in the order of insertion; repeated points are among them, without a tetrahedron.
  Span<const Vec3d> vertices() const { return vertices_.view(); }
  /// Row of the points that a vertex is.
  std::uint32_t row(std::uint32_t vertex) const { return order_[vertex]; }

 private:
  /// A tetrahedron. At infinity one corner is kInfinite. neighbor: 4 times the slot behind the face opposite the corner,
  /// plus the number of that face there. An unused slot has four times kInfinite.
  struct Cell {
    std::array<std::uint32_t, 4> corner;
    std::array<std::uint32_t, 4> neighbor;
  };
  /// A face between the cells that a new point replaces and the others.
  struct Rim {
    std::array<std::uint32_t, 4>
        corner;            ///< of the replaced cell, the new vertex in the place of the one it faces
    std::uint32_t behind;  ///< 4 times the cell on the other side, plus its face
    std::uint32_t place;   ///< number of the new vertex
  };
  struct HalfEdge {
    std::uint64_t key;
    std::uint32_t stamp, face;
  };

  static std::size_t infinite_corner(const Cell& cell) {
    std::size_t found = 4;
    for (std::size_t i = 0; i < 4; ++i) found = cell.corner[i] == kInfinite ? i : found;
    return found;
  }
  void first_simplex(std::array<std::uint32_t, 4>& corner, const OpContext& ctx);
  void start(const std::array<std::uint32_t, 4>& corner);
  void insert(std::uint32_t vertex, const OpContext& ctx);
  std::uint32_t locate(const Vec3d& p, const OpContext& ctx) const;
  bool conflicts(std::uint32_t cell, const Vec3d& p) const;
  bool finite_conflicts(const Cell& cell, const Vec3d& p) const;
  void gather(std::uint32_t first, std::uint32_t vertex, const OpContext& ctx);
  void fill(std::uint32_t vertex, const OpContext& ctx);
  void join(std::uint32_t cell, std::size_t new_corner);
  std::uint32_t new_slot(std::size_t use);

  BulkVector<std::uint32_t> order_;
  BulkVector<Vec3d> vertices_;
  BulkVector<Cell> cells_;
  BulkVector<std::uint32_t> mark_;  ///< per cell: 2 vertex + 1 = replaced by it, 2 vertex + 2 = seen and kept
  BulkVector<std::uint32_t> replaced_, spare_;
  BulkVector<Rim> rim_;
  BulkVector<HalfEdge> edges_;
  std::uint32_t stamp_ = 0;
  std::uint32_t newest_ = 0;
  int dimension_ = -1;
};

}  // namespace pc

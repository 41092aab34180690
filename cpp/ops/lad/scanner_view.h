#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/mesh/scan_triangulation.h"
#include "ops/mesh/voxel_cells.h"
#include "spatial/kd_tree.h"

namespace pc {

/// Rows of a scan of single returns, hits and misses.
struct ViewRows {
  Span<const Vec3d> positions;         ///< (n) metres; a miss lies anywhere along its beam
  Vec3d shift;                         ///< added to them: the frame of the grid
  const AnyColumn* is_miss = nullptr;  ///< (n) any scalar type, non-zero = miss, or nullptr
  Span<const std::uint8_t> deleted;    ///< (n) non-zero: hides what is behind it, but is no leaf; or empty
  Span<const std::uint8_t> is_leaf;    ///< (n) 0 = the same; empty: every hit is a leaf
};

/// What one scanner that stood still has measured.
struct ViewedScan {
  Vec3d origin;                ///< of the scanner, metres, frame of the grid
  std::vector<ViewRows> rows;  ///< of the scan, then of its restored misses
};

/// A beam of a view.
struct ViewBeam {
  Vec3d direction;      ///< from the scanner, unit vector
  double range;         ///< to the hit, metres; infinite for a miss
  double solid_angle;   ///< that the beam stands for, sr; 0 = unknown
  Vec3d normal;         ///< of the leaf at the hit, from the hits beside it, of any length; 0 = unknown
  std::uint32_t layer;  ///< layer of the grid of a hit on a leaf; else kNoLeafLayer
  bool is_leaf() const;
};
constexpr std::uint32_t kNoLeafLayer = 4294967295U;
inline bool ViewBeam::is_leaf() const { return layer != kNoLeafLayer; }

/// The beams of one scanner that reach a grid, and what it sees of a place.
///
/// Beams in exactly one direction count as the nearest of them. Each stands for a third of every triangle of directions
/// (spherical Delaunay) around it, unless the triangle spans a gap: an edge 10 times as long as the median one.
///
/// Order    Beams by their direction: a function of the rows as a set, for any thread count.
/// Cost     O(n log n); view_bytes of memory. Cancel within 50 ms.
/// Errors   kInvalidArgument: an origin that is not finite, columns of different lengths, a grid out of range.
class ScannerView {
 public:
  ScannerView(const ViewedScan& scan, const VoxelBox& grid, OpContext& ctx);

  Span<const ViewBeam> beams() const { return {beams_.data(), beams_.size()}; }
  const Vec3d& origin() const { return origin_; }
  Vec3d place(const ViewBeam& beam) const { return origin_ + beam.direction * beam.range; }

  /// Number of the beam nearest to the direction of a vector from the scanner; nothing where there are no beams.
  std::optional<std::size_t> nearest(const Vec3d& unit) const;

 private:
  void collect(const ViewedScan& scan, const VoxelBox& grid, OpContext& ctx);
  void sort(OpContext& ctx);
  void triangulate(OpContext& ctx);
  void find_normals(Span<const std::uint32_t> corners, OpContext& ctx);

  Vec3d origin_;
  BulkVector<ViewBeam> beams_;
  std::optional<KdTree> tree_;
};

/// Memory of a view of so many rows, and what making it needs besides, bytes.
constexpr std::uint64_t scanner_view_bytes(std::uint64_t rows) { return (sizeof(ViewBeam) + 48) * rows; }
constexpr std::uint64_t scanner_view_scratch_bytes(std::uint64_t rows) {
  return (24 + 24 + 8) * rows + scan_triangulation_bytes(rows);
}

}  // namespace pc

#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

/// The adaptive grid of ops/mesh/poisson.h.
namespace pc::poisson_detail {

constexpr std::uint32_t kNone = 0xffffffffU;
/// Levels up to this one have all their cells.
constexpr std::uint32_t kFullDepth = 5;
/// Samples in the same cell this many levels below the deepest one are merged.
constexpr std::uint32_t kMergeLevels = 2;

/// Points of the unit cube, in Morton order.
struct Samples {
  BulkVector<std::uint64_t> key;  ///< Morton code of the cell `bits` levels deep
  BulkVector<Vec3d> place;
  BulkVector<Vec3d> area_normal;        ///< unit normal times area
  BulkVector<double> area;              ///< of the surface that the sample stands for
  BulkVector<float> resolution;         ///< cells along the cube's side, of the size that suits the sample
  BulkVector<float> splat_depth;        ///< level, with a fraction, at whose cell size the normal is spread
  BulkVector<std::uint8_t> leaf_depth;  ///< level of the cell that the sample lies in
  std::uint32_t bits = 0;

  std::size_t size() const { return key.size(); }
};

/// The octree cells of one size. Corner c of a cell lies at its low (bit 0) or high (bit 1) side in x (bit 0 of c), y and z.
struct Level {
  BulkVector<std::uint64_t> key;  ///< (C) Morton codes, ascending; the 8 children of a cell are consecutive
  BulkVector<std::uint32_t> parent;  ///< (C / 8) cell of the level above
  BulkVector<std::uint32_t>
      child;  ///< (C) children are cells 8 child .. 8 child + 7 of the level below; kNone = leaf
  BulkVector<std::uint32_t> first, last;  ///< (C) samples inside
  BulkVector<std::uint32_t> corner;       ///< (8 C) vertices
  BulkVector<std::uint32_t> incident;     ///< (8 V) cell whose corner c the vertex is, or kNone
  BulkVector<std::uint8_t> is_free;       ///< (V) all cells around the vertex exist
  BulkVector<double> value;               ///< (V) the solution
  std::uint32_t depth = 0;

  std::size_t cell_count() const { return key.size(); }
  std::size_t vertex_count() const { return incident.size() / 8; }
  std::uint32_t a_cell_at(std::size_t vertex) const;
};

inline std::uint32_t Level::a_cell_at(std::size_t vertex) const {
  for (std::size_t c = 0; c < 8; ++c)
    if (incident[8 * vertex + c] != kNone) return static_cast<std::uint32_t>(8 * vertex + c);
  return kNone;
}

/// The integer coordinates of a Morton code.
struct CellPlace {
  std::uint32_t x, y, z;
};
CellPlace morton_decode(std::uint64_t key);
std::uint64_t morton_encode(const CellPlace& place);

/// Refined cells of each level: entry d holds the Morton codes of the cells of level d - 1 that have children, ascending.
/// Refined are all cells of the first levels; deeper, those of level d - 1 that hold, or touch one that holds, a sample with
/// leaf_depth >= d. With the parents of the 26 cells around the sample alone, the solution misses room: errors on a sphere
/// grow from .005 to .010 % of the diagonal.
std::vector<BulkVector<std::uint64_t>> refined_cells(const Samples& samples, std::uint32_t depth,
                                                     OpContext& ctx);

/// Cells and vertices of every level.
std::vector<Level> build_levels(const Samples& samples, std::vector<BulkVector<std::uint64_t>> refined,
                                OpContext& ctx);

/// Bound on the vertices of a level over its cells: the children of 27 cells around one sample have 7^3 vertices for 6^3
/// cells; around a surface they are fewer.
constexpr double kVerticesPerCell = 1.6;
/// Most cells of an octree: the eight cells around each vertex are numbered with 32 bits.
constexpr std::uint64_t kMostCells = 4'294'967'295 / 13;

/// Peak bytes of build_levels, the solution and the surface for these numbers of refined cells.
std::uint64_t level_bytes(const std::vector<BulkVector<std::uint64_t>>& refined);

/// Mean of the corners of the parent cell that surround a vertex: the trilinear interpolation of the level above.
template <class Value, class At>
Value interpolate(const Level& level, const Level& above, std::size_t vertex, const At& at) {
  const std::uint32_t found = level.a_cell_at(vertex);
  const std::uint32_t cell = level.incident[found], corner = found % 8, octant = cell % 8;
  const std::uint32_t* corners = above.corner.data() + 8 * std::size_t{level.parent[cell / 8]};
  // Along each axis the vertex is at the low side (both bits 0), at the high side (both 1) or in the middle.
  const std::uint32_t always = corner & octant, half = corner ^ octant;
  Value v[8];
  std::size_t count = 0;
  for (std::uint32_t c = 0; c < 8; ++c)
    if ((c & ~half & 7U) == always) v[count++] = at(corners[c]);
  for (; count > 1; count /= 2)
    for (std::size_t i = 0; i < count / 2; ++i) v[i] = (v[2 * i] + v[2 * i + 1]) * 0.5;
  return v[0];
}

}  // namespace pc::poisson_detail

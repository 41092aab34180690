#pragma once
#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

namespace ball_grid {

/// One (ball, cell) pair. `tag` is the low half of the cell's hash.
struct Entry {
  std::uint32_t tag;
  std::uint32_t ball;
};

/// Half width of a box that contains every point of the ball. It allows for the rounding of the computed squared distance
/// (relative 2^-50) and of the root. Rounding of center +- reach is monotone, so it cannot lose a point.
double reach_of(double squared_radius);

/// Index of the cell of size 1/inverse_size that holds x, saturated. It never decreases as x grows; the grid is exact
/// because of that alone. inverse_size is a power of two, so the product is exact.
PC_HD inline std::int64_t cell_of(double x, double inverse_size) {
  constexpr double kLimit = 0x1.0p61;
  double scaled = x * inverse_size;
  scaled = scaled < -kLimit ? -kLimit : (scaled > kLimit ? kLimit : scaled);
  const auto whole = static_cast<std::int64_t>(scaled);
  return whole - (static_cast<double>(whole) > scaled ? 1 : 0);
}

/// Mixes a cell to 64 bits (multiply, fold, multiply; odd constants from the SplitMix64 and Murmur3
/// finalizers).
PC_HD inline std::uint64_t cell_hash(std::uint32_t level, std::int64_t x, std::int64_t y, std::int64_t z) {
  std::uint64_t h = static_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15ULL;
  h += static_cast<std::uint64_t>(y) * 0xbf58476d1ce4e5b9ULL;
  h += static_cast<std::uint64_t>(z) * 0x94d049bb133111ebULL;
  h += (level + 1) * 0xff51afd7ed558ccdULL;
  h ^= h >> 32;
  h *= 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 32);
}

/// Sets of levels in a byte: one bit for each of the first seven, the last for all others.
inline constexpr std::uint8_t kAllLevels = 0xff;
PC_HD inline std::uint8_t level_bit(std::uint32_t level) {
  return static_cast<std::uint8_t>(1u << (level < 7 ? level : 7));
}

}  // namespace ball_grid

/// The arrays of a BallGrid, for host and device code.
struct BallGridView {
  const double* inverse_size;         ///< (level_count) 1 / cell size, powers of two
  const std::uint64_t* filter;        ///< bitmap indexed by the top bits of the hash: clear = no ball there
  const std::uint32_t* bucket_begin;  ///< (buckets + 1) offsets into entries
  const ball_grid::Entry* entries;    ///< grouped by bucket
  const std::uint32_t* unbounded;     ///< (unbounded_count) balls that contain everything
  std::uint32_t level_count;
  std::uint32_t unbounded_count;
  std::uint32_t filter_shift;  ///< filter bit = hash >> filter_shift
  std::uint32_t bucket_shift;  ///< bucket = hash >> bucket_shift

  /// Calls visit(ball) for every ball that contains the finite point p, and for some that do not. It may visit a ball
  /// more than once. `levels`: those of the balls that may contain p, see ball_grid::level_bit.
  template <class Visit>
  PC_HD void for_each_candidate(const Vec3d& p, Visit&& visit,
                                std::uint8_t levels = ball_grid::kAllLevels) const {
    for (std::uint32_t level = 0; level < level_count; ++level) {
      if ((levels & ball_grid::level_bit(level)) == 0) continue;
      const double scale = inverse_size[level];
      const std::uint64_t hash =
          ball_grid::cell_hash(level, ball_grid::cell_of(p.x, scale), ball_grid::cell_of(p.y, scale),
                               ball_grid::cell_of(p.z, scale));
      const std::uint64_t bit = hash >> filter_shift;
      if ((filter[bit >> 6] >> (bit & 63) & 1) == 0) continue;
      const std::uint64_t bucket = hash >> bucket_shift;
      for (std::uint32_t e = bucket_begin[bucket]; e < bucket_begin[bucket + 1]; ++e) {
        if (entries[e].tag == static_cast<std::uint32_t>(hash)) visit(entries[e].ball);
      }
    }
    for (std::uint32_t u = 0; u < unbounded_count; ++u) visit(unbounded[u]);
  }
};

/// Finds the balls that may contain a given point. It is a stack of sparse hashed grids with cells of 4^k metres; each
/// ball is stored in the finest grid whose cells are as large as its diameter. Time and memory do not depend on the
/// extent of the balls. A query makes one lookup per grid in use; there is one grid for every factor of 4 between the
/// smallest and the largest radius.
class BallGrid {
 public:
  /// centers         (n) finite; n < 2^28
  /// squared_radius  (n) a ball contains p if the computed squared_distance(p, center) < squared_radius;
  ///                 0 = contains nothing, infinite = contains everything
  /// Cost     O(n) time, about 150 bytes per ball. Cancel within 50 ms.
  BallGrid(Span<const Vec3d> centers, Span<const double> squared_radius, OpContext& ctx);
  BallGridView view() const;
  /// (n) the level of each ball; negative = contains nothing or everything.
  Span<const std::int16_t> levels() const;
  std::size_t filter_words() const { return filter_.size(); }
  std::size_t bucket_count() const { return bucket_begin_.size() - 1; }
  std::size_t entry_count() const { return entries_.size(); }

 private:
  void number_levels(Span<std::int16_t> slot_to_level);

  BulkVector<std::int16_t> levels_;
  BulkVector<double> inverse_size_;
  BulkVector<std::uint64_t> filter_;
  BulkVector<std::uint32_t> bucket_begin_;
  BulkVector<ball_grid::Entry> entries_;
  BulkVector<std::uint32_t> unbounded_;
  std::uint32_t filter_shift_ = 58;
  std::uint32_t bucket_shift_ = 63;
};

}  // namespace pc

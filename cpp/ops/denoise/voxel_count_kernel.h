#pragma once
#include <cstdint>

#include "core/atomic.h"
#include "core/host_device.h"
#include "core/vec3.h"
#include "ops/denoise/noise_class.h"

namespace pc::voxel_count_kernel {

constexpr double kWindow = 1 << 20;  // cells on each side of the middle that a key can represent
constexpr std::uint64_t kNoCell = ~std::uint64_t{0};
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: Knuth, TAOCP 3, section 6.4

PC_HD inline double floor_of(double value) {
  if (!(value < 0x1p52 && value > -0x1p52)) return value;  // a whole number already
  const double whole = static_cast<double>(static_cast<std::int64_t>(value));
  return whole > value ? whole - 1 : whole;
}

/// Cells of a grid, and the window of cells whose keys fit in 63 bits.
struct Cells {
  Vec3d anchor;
  double voxel_m;
  Vec3d middle;

  PC_HD Vec3d of(const Vec3d& p) const {
    return {floor_of((p.x - anchor.x) / voxel_m), floor_of((p.y - anchor.y) / voxel_m),
            floor_of((p.z - anchor.z) / voxel_m)};
  }
  /// The cell as 3 x 21 bits, or kNoCell if it lies outside the window or p is not finite.
  PC_HD std::uint64_t key(const Vec3d& p) const {
    const Vec3d from_corner = of(p) - middle + Vec3d{kWindow, kWindow, kWindow};
    constexpr double kSpan = 2 * kWindow;
    const bool inside = from_corner.x >= 0 && from_corner.x < kSpan && from_corner.y >= 0 &&
                        from_corner.y < kSpan && from_corner.z >= 0 && from_corner.z < kSpan;
    if (!inside) return kNoCell;
    return static_cast<std::uint64_t>(from_corner.x) << 42 | static_cast<std::uint64_t>(from_corner.y) << 21 |
           static_cast<std::uint64_t>(from_corner.z);
  }
};

/// Label of a point outside the window; the host labels these.
constexpr std::uint8_t kUndecided = 0;

/// Input and output of pc_cuda.
struct HostPass {
  const Vec3d* points;  ///< (count)
  std::uint64_t count;
  Cells cells;
  std::uint32_t min_points;
  std::uint8_t* labels;  ///< (count) kClean or kNoise, or kUndecided outside the window
};

/// Access to memory that many threads write, as in a kernel. Counts start at 0.
struct SharedMemory {
  PC_HD static std::uint64_t claim(std::uint64_t* key, std::uint64_t wanted) {
    return atomic_claim(key, kNoCell, wanted);
  }
  PC_HD static void begin(std::uint32_t* count) { atomic_increment(count); }
  PC_HD static void add(std::uint32_t* count) { atomic_increment(count); }
};

/// Access to memory of one thread. Counts of free slots are undefined.
struct OwnMemory {
  static std::uint64_t claim(std::uint64_t* key, std::uint64_t wanted) {
    const std::uint64_t seen = *key;
    if (seen == kNoCell) *key = wanted;
    return seen;
  }
  static void begin(std::uint32_t* count) { *count = 1; }
  static void add(std::uint32_t* count) { ++*count; }
};

/// A hash table of cells, at most half full, so linear probing ends.
struct Table {
  std::uint64_t* keys;    ///< (mask + 1) kNoCell = free
  std::uint32_t* counts;  ///< (mask + 1)
  std::uint64_t mask;     ///< number of slots, a power of two, minus 1

  /// Every bit of the key takes part: cells of a line or plane in any direction spread like random ones.
  PC_HD std::uint64_t first(std::uint64_t key) const {
    const std::uint64_t mixed = (key ^ key >> 32) * kMix;
    return (mixed ^ mixed >> 32) & mask;
  }
  /// The slot of a cell, or the free slot where it would be inserted.
  PC_HD std::uint64_t slot_of(std::uint64_t key) const {
    std::uint64_t slot = first(key);
    while (keys[slot] != key && keys[slot] != kNoCell) slot = (slot + 1) & mask;
    return slot;
  }
};

/// Counts a point in its cell; true if it is the first point of the cell. The slot of a cell depends on the order of
/// the calls, its count does not.
template <class Memory>
PC_HD bool count_key(std::uint64_t key, const Table& table) {
  std::uint64_t slot = table.first(key);
  std::uint64_t seen = Memory::claim(table.keys + slot, key);
  while (seen != kNoCell && seen != key) {
    slot = (slot + 1) & table.mask;
    seen = Memory::claim(table.keys + slot, key);
  }
  if (seen == kNoCell)
    Memory::begin(table.counts + slot);
  else
    Memory::add(table.counts + slot);
  return seen == kNoCell;
}

/// The label of the points of a cell, once all points are counted.
PC_HD inline std::uint8_t label_of(std::uint64_t key, const Table& table, std::uint32_t min_points) {
  return table.counts[table.slot_of(key)] >= min_points ? kClean : kNoise;
}

/// Counts a point if its cell lies in the window.
PC_HD inline void count_point(const Vec3d& p, const Cells& cells, const Table& table) {
  const std::uint64_t key = cells.key(p);
  if (key != kNoCell) count_key<SharedMemory>(key, table);
}

/// Labels a point, once all points are counted.
PC_HD inline void label_point(const Vec3d& p, const Cells& cells, const Table& table,
                              std::uint32_t min_points, std::uint8_t* label) {
  const std::uint64_t key = cells.key(p);
  *label = key == kNoCell ? kUndecided : label_of(key, table, min_points);
}

}  // namespace pc::voxel_count_kernel

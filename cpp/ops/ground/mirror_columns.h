#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/span.h"

namespace pc {

/// A point in a square of 10 m: 12 bits of its column, then its level of 0.1 m.
using MirrorCode = std::uint32_t;

/// Where a block of columns is mirrored.
struct MirrorVerdict {
  /// The mirror is the lower side of this level.
  std::uint32_t level;
  /// Voxels that lie below it and tell something: not matched here and in all places 1 m beside them, too.
  std::uint32_t voxels;
  double matched;  ///< part of them with something as far above the mirror
  double chance;   ///< part of them with something there 1 m beside them
  /// Columns whose lowest voxel that is no image lies 0.1 m below to 0.5 m above the mirror.
  std::uint32_t rim = 0;
  /// Columns where it lies more than 0.3 m below the mirror.
  std::uint32_t sunk = 0;
};

/// Which of 50 x 50 columns of 0.2 m hold points, in levels of 0.1 m.
class MirrorColumns {
 public:
  static constexpr std::size_t kSide = 50, kColumns = kSide * kSide;
  static constexpr std::uint32_t kLevels = 1024;

  /// The levels begin at the twentieth lowest point; points that are lower, or 102.4 m higher, are in no voxel.
  explicit MirrorColumns(Span<const MirrorCode> points);
  /// The levels begin 51.2 m below a mirror, at the earliest at 0.
  MirrorColumns(Span<const MirrorCode> points, std::uint32_t mirror);

  /// The level about which the columns are mirrored best; nothing where none is a mirror (mirror_images.h).
  std::optional<MirrorVerdict> verdict() const;

  struct Counts {
    std::uint32_t low = 0, matched = 0;
  };
  /// The voxels at least 0.1 m below `level`, and those of them with something as far above it.
  Counts lower(std::uint32_t level) const;
  /// Voxels that are images, where not all that are so low are: those at least 0.1 m below `level` in columns about which 60 % of such
  /// voxels, within 0.5 m, have something as far above the level, without columns of what passes through it. Empty where there is none. words() per column.
  std::vector<std::uint64_t> images(std::uint32_t level) const;

  std::size_t words() const { return words_; }
  std::uint32_t base() const { return base_; }  ///< level of bit 0

 private:
  void fill(Span<const MirrorCode> points);
  /// How far a reversed column is shifted to be the image of another, and the lowest level whose image is no higher than the top.
  struct Shift {
    std::int64_t bits, lowest;
  };
  Shift shift_of(std::uint32_t level) const;
  /// Bits of a word of a column below which something of `column` has its image.
  std::uint64_t image(std::size_t column, std::size_t word, const Shift& shift) const;
  /// The voxels of a column below `cut`, and those of them that are matched by their mirror images.
  Counts match(std::size_t column, std::uint32_t level, std::uint32_t cut) const;
  /// Whether no voxel lies 0.1 to 0.3 m above or below the mirror, as of what passes through it.
  bool is_apart(std::size_t column, std::uint32_t level) const;
  /// Whether enough voxels below a mirror are matched, those that tell nothing among them. Ends early where they are not.
  bool may_mirror(std::uint32_t level) const;
  std::optional<MirrorVerdict> judge(std::uint32_t level) const;
  void look_for_rim(MirrorVerdict& verdict) const;
  bool has(std::size_t column, std::uint32_t level) const {
    return (bits_[column * words_ + level / 64] >> (level % 64) & 1U) != 0;
  }

  std::uint32_t base_ = 0, top_ = 0;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;      ///< (kColumns x words)
  std::vector<std::uint32_t> occupied_;  ///< columns with points, near and far ones in turn
  std::vector<std::uint64_t> reversed_;  ///< with the voxels above and below, the highest level first
};

}  // namespace pc

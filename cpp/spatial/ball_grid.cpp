#include "spatial/ball_grid.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"

namespace pc {

namespace ball_grid {

double reach_of(double squared_radius) { return std::sqrt(squared_radius) * (1.0 + 0x1.0p-40); }

}  // namespace ball_grid

namespace {

using ball_grid::reach_of;

// Roots of doubles lie in [2^-537, 2^512].
constexpr int kMinExponent = -540;
constexpr int kMaxExponent = 520;
constexpr int kLevelSlots = (kMaxExponent - kMinExponent) / 2 + 1;
constexpr std::size_t kPollEvery = 1 << 16;

struct CellRange {
  std::int64_t lo, hi;
};

CellRange cells_of(double center, double reach, double inverse_size) {
  return {ball_grid::cell_of(center - reach, inverse_size), ball_grid::cell_of(center + reach, inverse_size)};
}

bool fits(const Vec3d& c, double reach, double inverse_size) {
  for (const double x : {c.x, c.y, c.z}) {
    const CellRange range = cells_of(x, reach, inverse_size);
    if (range.hi - range.lo > 1) return false;
  }
  return true;
}

double inverse_size_of(int slot) { return std::ldexp(1.0, -(kMinExponent + 2 * slot)); }

/// Slot of the finest level whose cells are at least twice the reach; -1 if there is none (the ball is treated as
/// unbounded).
int slot_of(const Vec3d& center, double reach) {
  int exponent = 0;
  std::frexp(reach, &exponent);  // reach < 2^exponent, so cells of 2^(exponent + 1) hold the diameter
  int slot = (std::max(exponent + 1, kMinExponent) - kMinExponent + 1) / 2;
  while (slot < kLevelSlots && !fits(center, reach, inverse_size_of(slot))) ++slot;
  return slot < kLevelSlots ? slot : -1;
}

std::uint32_t log2_ceil(std::uint64_t value) {
  std::uint32_t bits = 0;
  while ((std::uint64_t{1} << bits) < value) ++bits;
  return bits;
}

/// Values used instead of a slot or level.
constexpr std::int16_t kNowhere = -1, kEverywhere = -2;

/// The slot of each ball, or kNowhere or kEverywhere.
BulkVector<std::int16_t> place(Span<const Vec3d> centers, Span<const double> squared_radius, OpContext& ctx) {
  BulkVector<std::int16_t> slots(centers.size);
  for (std::size_t i = 0; i < centers.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    slots[i] = kNowhere;
    if (!(squared_radius[i] > 0.0)) continue;
    const double reach = reach_of(squared_radius[i]);
    const int found = std::isfinite(reach) ? slot_of(centers[i], reach) : -1;
    slots[i] = found < 0 ? kEverywhere : static_cast<std::int16_t>(found);
  }
  return slots;
}

/// Calls visit(hash) for every cell that the ball's box touches: at most two per axis, see fits().
template <class Visit>
void for_each_cell(const Vec3d& center, double reach, std::uint32_t level, double inverse_size,
                   Visit&& visit) {
  const CellRange xs = cells_of(center.x, reach, inverse_size);
  const CellRange ys = cells_of(center.y, reach, inverse_size);
  const CellRange zs = cells_of(center.z, reach, inverse_size);
  for (std::int64_t z = zs.lo; z <= zs.hi; ++z) {
    for (std::int64_t y = ys.lo; y <= ys.hi; ++y) {
      for (std::int64_t x = xs.lo; x <= xs.hi; ++x) visit(ball_grid::cell_hash(level, x, y, z));
    }
  }
}

}  // namespace

BallGrid::BallGrid(Span<const Vec3d> centers, Span<const double> squared_radius, OpContext& ctx) {
  require(centers.size == squared_radius.size && centers.size < (std::size_t{1} << 28),
          "balls: one radius each, fewer than 2^28");
  levels_ = place(centers, squared_radius, ctx);
  number_levels(levels_.view());
  const auto for_each_pair = [&](auto&& visit) {
    for (std::size_t i = 0; i < centers.size; ++i) {
      if (i % kPollEvery == 0) ctx.checkpoint();
      if (levels_[i] < 0) continue;
      const auto l = static_cast<std::uint32_t>(levels_[i]);
      for_each_cell(centers[i], reach_of(squared_radius[i]), l, inverse_size_[l],
                    [&](std::uint64_t hash) { visit(hash, static_cast<std::uint32_t>(i)); });
    }
  };

  std::uint64_t entries = 0;
  for_each_pair([&](std::uint64_t, std::uint32_t) { ++entries; });
  // 32 filter bits per entry let about 3 % of the queries for empty cells pass; 2^21 bits (256 KiB) for 20 000 balls.
  const std::uint32_t bucket_bits = std::max(1U, log2_ceil(entries * 2));
  const std::uint32_t filter_bits = std::max(6U, log2_ceil(entries * 32));
  bucket_shift_ = 64 - bucket_bits;
  filter_shift_ = 64 - filter_bits;
  filter_.resize(std::size_t{1} << (filter_bits - 6));
  bucket_begin_.resize((std::size_t{1} << bucket_bits) + 1);
  entries_.resize(static_cast<std::size_t>(entries));

  // Counting sort by bucket. Counts are stored one element ahead, so that filling turns them into the offsets.
  for_each_pair([&](std::uint64_t hash, std::uint32_t) {
    const std::uint64_t bucket = hash >> bucket_shift_, bit = hash >> filter_shift_;
    if (bucket + 2 < bucket_begin_.size()) ++bucket_begin_[bucket + 2];
    filter_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
  });
  for (std::size_t b = 1; b < bucket_begin_.size(); ++b) bucket_begin_[b] += bucket_begin_[b - 1];
  for_each_pair([&](std::uint64_t hash, std::uint32_t ball) {
    entries_[bucket_begin_[(hash >> bucket_shift_) + 1]++] = {static_cast<std::uint32_t>(hash), ball};
  });
}

/// Replaces slots by levels: the slots in use, numbered from the coarsest.
void BallGrid::number_levels(Span<std::int16_t> slot_to_level) {
  std::array<bool, kLevelSlots> used{};
  for (std::size_t i = 0; i < slot_to_level.size; ++i) {
    const std::int16_t slot = slot_to_level[i];
    if (slot >= 0) used[static_cast<std::size_t>(slot)] = true;
    if (slot == kEverywhere) unbounded_.push_back(static_cast<std::uint32_t>(i));
  }
  std::array<std::int16_t, kLevelSlots> level{};
  for (int slot = kLevelSlots - 1; slot >= 0; --slot) {
    if (!used[static_cast<std::size_t>(slot)]) continue;
    inverse_size_.push_back(inverse_size_of(slot));
    level[static_cast<std::size_t>(slot)] = static_cast<std::int16_t>(inverse_size_.size() - 1);
  }
  for (std::int16_t& value : slot_to_level) {
    if (value >= 0) value = level[static_cast<std::size_t>(value)];
  }
}

Span<const std::int16_t> BallGrid::levels() const { return levels_.view(); }

BallGridView BallGrid::view() const {
  return {inverse_size_.data(),
          filter_.data(),
          bucket_begin_.data(),
          entries_.data(),
          unbounded_.data(),
          static_cast<std::uint32_t>(inverse_size_.size()),
          static_cast<std::uint32_t>(unbounded_.size()),
          filter_shift_,
          bucket_shift_};
}

}  // namespace pc

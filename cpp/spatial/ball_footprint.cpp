#include "spatial/ball_footprint.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

/// Cells of the map: finer where there are many balls, so that they fill less of it.
constexpr double kFewestCells = 0x1.0p21, kMostCells = 0x1.0p23, kCellsPerBall = 512;
/// Above this many cells in all balls the map costs more than it saves.
constexpr double kMostMarks = 0x1.0p23;
constexpr std::size_t kPollEvery = 1 << 12;

struct Bounds {
  Vec3d low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};

  void add(const Vec3d& c, double reach) {
    low = {std::min(low.x, c.x - reach), std::min(low.y, c.y - reach), std::min(low.z, c.z - reach)};
    high = {std::max(high.x, c.x + reach), std::max(high.y, c.y + reach), std::max(high.z, c.z + reach)};
  }
};

double cells_in(const Vec3d& extent, double cell) {
  return (extent.x / cell + 2) * (extent.y / cell + 2) * (extent.z / cell + 2);
}

/// Smallest cell with which the extent has at most `most` cells, within a tenth.
double cell_size(const Vec3d& extent, double most) {
  double cell = std::max({extent.x, extent.y, extent.z});
  while (cells_in(extent, cell / 1.1) <= most) cell /= 1.1;
  return cell;
}

}  // namespace

BallFootprint::BallFootprint(Span<const Vec3d> centers, Span<const double> squared_radius,
                             Span<const std::int16_t> levels, OpContext& ctx) {
  Bounds bounds;
  for (std::size_t i = 0; i < centers.size; ++i)
    if (squared_radius[i] > 0) bounds.add(centers[i], ball_grid::reach_of(squared_radius[i]));
  const Vec3d extent = bounds.high - bounds.low;
  if (!is_finite(extent) || !(std::min({extent.x, extent.y, extent.z}) > 0)) return;
  const double most = kCellsPerBall * static_cast<double>(centers.size);
  scale_ = 1 / cell_size(extent, std::clamp(most, kFewestCells, kMostCells));
  if (!std::isfinite(scale_)) return;
  low_ = bounds.low;
  double marks = 0;
  for (std::size_t i = 0; i < centers.size; ++i) {
    if (!(squared_radius[i] > 0)) continue;
    const double across = 2 * ball_grid::reach_of(squared_radius[i]) * scale_ + 1;
    marks += across * across * across;
  }
  if (marks > kMostMarks) return;

  nx_ = cell_of(bounds.high.x, low_.x) + 1;
  ny_ = cell_of(bounds.high.y, low_.y) + 1;
  const std::size_t nz = cell_of(bounds.high.z, low_.z) + 1;
  size_ = {static_cast<double>(nx_), static_cast<double>(ny_), static_cast<double>(nz)};
  cells_.resize(nx_ * ny_ * nz);
  for (std::size_t i = 0; i < centers.size; ++i) {
    if (i % kPollEvery == 0) ctx.checkpoint();
    if (!(squared_radius[i] > 0)) continue;
    mark(centers[i], ball_grid::reach_of(squared_radius[i]),
         levels[i] < 0 ? ball_grid::kAllLevels : ball_grid::level_bit(static_cast<std::uint32_t>(levels[i])));
  }
}

void BallFootprint::mark(const Vec3d& c, double reach, std::uint8_t bit) {
  const std::size_t first_x = cell_of(c.x - reach, low_.x), last_x = cell_of(c.x + reach, low_.x);
  const std::size_t last_y = cell_of(c.y + reach, low_.y), last_z = cell_of(c.z + reach, low_.z);
  for (std::size_t z = cell_of(c.z - reach, low_.z); z <= last_z; ++z) {
    for (std::size_t y = cell_of(c.y - reach, low_.y); y <= last_y; ++y) {
      const std::size_t row = (z * ny_ + y) * nx_;
      for (std::size_t cell = row + first_x; cell <= row + last_x; ++cell) cells_[cell] |= bit;
    }
  }
}

}  // namespace pc

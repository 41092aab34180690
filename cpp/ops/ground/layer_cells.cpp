#include "ops/ground/layer_cells.h"

#include <algorithm>
#include <cmath>

#include "core/nth_smallest.h"

namespace pc {

namespace {

constexpr double kBelow = 2;  // cells: how far heights go down below the lowest points
constexpr std::size_t kMostLow = 5,
                      kLowPart = 100;  // the lowest point but so many, as single ones may be noise
constexpr int kAround = 2;             // cells that show the slope
constexpr int kSlopeRounds = 4;
constexpr double kSlopeReach = 2;  // medians: what is farther from the slope counts less
constexpr double kPull = 0.008;    // of the cell's area, towards level
constexpr std::uint32_t kFewest = 3;
constexpr double kLeastPart = 0.01;  // of the points of the cell
constexpr int kMostClimb = 6;        // bins
constexpr double kTwo = 2;
constexpr std::size_t kFewestParts = 2, kMostParts = 128;
constexpr std::size_t kFewestApart = 4;
constexpr double kLeastVariance = 1e-7;  // of places in a cell: that of a float

/// Mean and variance.
struct Spread {
  double n = 0, mean = 0, squares = 0;
  void add(double value) {
    n += 1;
    const double beside = value - mean;
    mean += beside / n;
    squares += beside * (value - mean);
  }
  double variance() const { return n > 0 ? squares / n : 0; }
};

/// Places and heights of the points of a layer.
struct Layer {
  Spread above, u, v;
  double halo = 0;
  void add(const FlattenedPoint& p) {
    above.add(p.above);
    u.add(p.u);
    v.add(p.v);
  }
  double places() const { return u.variance() + v.variance(); }
};

double square(double value) { return value * value; }

}  // namespace

std::size_t LayerScale::bins() const {
  return static_cast<std::size_t>(std::lround((top_m + kBelow * cell_m) / bin_m));
}

std::size_t LayerScale::levels() const { return static_cast<std::size_t>(std::lround(top_m / bin_m)); }

LayerShares::LayerShares(const LayerScale& scale) {
  for (auto& one : sums) one.assign(scale.levels(), 0);
}

void LayerShares::add(const LayerShares& other) {
  for (std::size_t part = 0; part < sums.size(); ++part)
    for (std::size_t k = 0; k < sums[part].size(); ++k) sums[part][k] += other.sums[part][k];
  cells += other.cells;
}

LayerCells::LayerCells(Span<const Vec3d> points, const Vec3d& corner, double side, const LayerScale& scale)
    : scale_(scale),
      corner_(corner),
      side_(static_cast<std::size_t>(std::lround(side / scale.cell_m))),
      first_(side_ * side_ + 1, 0),
      points_(points.size) {
  const auto along = [&](double from) {
    return std::clamp(from / scale_.cell_m, 0.0, static_cast<double>(side_) - 1e-9);
  };
  const auto cell_of = [&](const Vec3d& p) {
    return static_cast<std::size_t>(along(p.y - corner_.y)) * side_ +
           static_cast<std::size_t>(along(p.x - corner_.x));
  };
  for (const Vec3d& p : points) ++first_[cell_of(p) + 1];
  for (std::size_t cell = 0; cell + 1 < first_.size(); ++cell) first_[cell + 1] += first_[cell];
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < points.size; ++i) {
    const Vec3d& p = points[i];
    const double x = along(p.x - corner_.x), y = along(p.y - corner_.y);
    points_[next[cell_of(p)]++] = {p.z, static_cast<float>(x - std::floor(x)),
                                   static_cast<float>(y - std::floor(y)), static_cast<std::uint32_t>(i)};
  }
  flatten();
}

std::uint64_t LayerCells::count() const {
  std::uint64_t n = 0;
  for (const double low : low_) n += std::isnan(low) ? 0 : 1;
  return n;
}

void LayerCells::flatten() {
  const std::size_t cells = side_ * side_;
  low_.assign(cells, std::nan(""));
  std::vector<double> heights;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const auto own = of(cell);
    if (own.size == 0) continue;
    heights.clear();
    for (const FlattenedPoint& p : own) heights.push_back(p.above);
    low_[cell] = nth_smallest(heights.data(), heights.size(), std::min(own.size / kLowPart, kMostLow));
  }
  const auto side = static_cast<int>(side_);
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) {
      const auto cell = static_cast<std::size_t>(j * side + i);
      if (std::isnan(low_[cell])) continue;
      const PlaneFit::Plane plane = slope_at(i, j);
      for (std::size_t k = first_[cell]; k < first_[cell + 1]; ++k) {
        FlattenedPoint& p = points_[k];
        const double beside =
            plane.gu * (static_cast<double>(p.u) - 0.5) + plane.gv * (static_cast<double>(p.v) - 0.5);
        p.above -= low_[cell] + beside * scale_.cell_m;
      }
    }
}

PlaneFit::Plane LayerCells::slope_at(int i, int j) const {
  const auto side = static_cast<int>(side_);
  std::vector<Vec3d> around;
  for (int v = std::max(0, j - kAround); v <= std::min(side - 1, j + kAround); ++v)
    for (int u = std::max(0, i - kAround); u <= std::min(side - 1, i + kAround); ++u)
      if (const double low = low_[static_cast<std::size_t>(v * side + u)]; !std::isnan(low))
        around.push_back({(u - i) * scale_.cell_m, (v - j) * scale_.cell_m, low});
  std::vector<double> weights(around.size(), 1);
  PlaneFit::Plane plane{};
  for (int round = 0; round < kSlopeRounds; ++round) {
    PlaneFit fit;
    for (std::size_t k = 0; k < around.size(); ++k)
      fit.add(around[k].x, around[k].y, around[k].z, weights[k]);
    plane = fit.plane(kPull * scale_.cell_m * scale_.cell_m);
    const auto off = [&](const Vec3d& p) {
      return std::abs(p.z - plane.height - plane.gu * p.x - plane.gv * p.y);
    };
    std::vector<double> sizes;
    for (const Vec3d& p : around) sizes.push_back(off(p));
    const double typical = nth_smallest(sizes.data(), sizes.size(), sizes.size() / 2) + scale_.bin_m;
    for (std::size_t k = 0; k < around.size(); ++k)
      weights[k] = 1 / square(std::max(1.0, off(around[k]) / (kSlopeReach * typical)));
  }
  return plane;
}

std::int64_t LayerCells::bin_of(double above) const {
  const double bin = std::floor(above / scale_.bin_m + kBelow * scale_.cell_m / scale_.bin_m);
  return static_cast<std::int64_t>(std::clamp(bin, -1e6, 1e6));
}

bool LayerCells::find_lowest(std::size_t cell, Levels& levels) const {
  const std::size_t bins = scale_.bins();
  const auto last = static_cast<std::int64_t>(bins) - 1;
  levels.counts.assign(bins, 0);
  levels.sums.assign(bins, 0);
  std::uint32_t all = 0;
  for (const FlattenedPoint& p : of(cell)) {
    const std::int64_t bin = bin_of(p.above);
    if (bin < 0 || bin > last) continue;
    ++levels.counts[static_cast<std::size_t>(bin)];
    ++all;
  }
  if (all < kFewest) return false;
  for (std::size_t k = 0; k < bins; ++k)
    levels.sums[k] =
        levels.counts[k] + (k > 0 ? levels.counts[k - 1] : 0) + (k + 1 < bins ? levels.counts[k + 1] : 0);
  const double enough = std::max<double>(kFewest, kLeastPart * all);
  const auto found =
      std::find_if(levels.sums.begin(), levels.sums.end(), [&](std::uint32_t sum) { return sum >= enough; });
  if (found == levels.sums.end()) return false;
  levels.lowest = static_cast<std::size_t>(found - levels.sums.begin());
  for (int climb = 0; climb < kMostClimb && levels.lowest + 1 < bins; ++climb) {
    if (levels.sums[levels.lowest + 1] <= levels.sums[levels.lowest]) break;
    ++levels.lowest;
  }
  return true;
}

void LayerCells::add_to(LayerShares& shares) const {
  Levels levels;
  for (std::size_t cell = 0; cell + 1 < first_.size(); ++cell) {
    if (of(cell).size < kFewest || !find_lowest(cell, levels)) continue;
    ++shares.cells;
    const double base = levels.sums[levels.lowest];
    const std::size_t end = std::min(shares.sums[0].size(), levels.sums.size() - levels.lowest);
    for (std::size_t k = 0; k < end; ++k) {
      const double sum = levels.sums[levels.lowest + k];
      if (sum == 0) continue;
      for (std::size_t part = 0; part < kLayerParts.size(); ++part)
        shares.sums[part][k] +=
            std::llround(LayerShares::kOne * std::min(1.0, sum / std::max(kTwo, kLayerParts[part] * base)));
    }
  }
}

bool LayerCells::pair_of(std::size_t cell, std::size_t lowest, std::size_t level, double part,
                         LayerPair* out) const {
  Layer low, up;
  std::vector<FlattenedPoint> own(points_.begin() + static_cast<std::ptrdiff_t>(first_[cell]),
                                  points_.begin() + static_cast<std::ptrdiff_t>(first_[cell + 1]));
  std::sort(own.begin(), own.end(), [](const FlattenedPoint& a, const FlattenedPoint& b) {
    if (a.above != b.above) return a.above < b.above;
    return a.u != b.u ? a.u < b.u : a.v < b.v;
  });
  const auto at_low = static_cast<std::int64_t>(lowest), at_up = static_cast<std::int64_t>(lowest + level);
  std::vector<double> about;
  for (const FlattenedPoint& p : own) {
    const std::int64_t bin = bin_of(p.above), beside = std::abs(bin - at_up);
    if (is_in(p, lowest)) low.add(p);
    if (is_in(p, lowest + level)) up.add(p);
    if (beside <= kHalo) about.push_back(p.above);
    if (bin - at_low > kHalf && bin - at_low <= kHalo) low.halo += 1;
    if (beside > kHalf && beside <= kHalo) up.halo += 0.5;  // above and below
  }
  if (low.above.n < kFewest || up.above.n < std::max(kTwo, part * low.above.n)) return false;
  const auto parts = static_cast<std::size_t>(std::clamp(std::sqrt(std::min(low.above.n, up.above.n)),
                                                         static_cast<double>(kFewestParts),
                                                         static_cast<double>(kMostParts)));
  std::vector<std::uint8_t> held(parts * parts, 0);
  for (const FlattenedPoint& p : own) {
    const auto along = [&](float at) {
      return std::min(parts - 1, static_cast<std::size_t>(at * static_cast<float>(parts)));
    };
    std::uint8_t& place = held[along(p.v) * parts + along(p.u)];
    if (is_in(p, lowest)) place |= 1U;
    if (is_in(p, lowest + level)) place |= 2U;
  }
  const auto count = [&](auto&& holds) {
    return static_cast<double>(std::count_if(held.begin(), held.end(), holds));
  };
  const double in_low = count([](std::uint8_t h) { return (h & 1U) != 0; }),
               in_up = count([](std::uint8_t h) { return (h & 2U) != 0; });
  const bool can_be_apart = low.above.n >= kFewestApart && up.above.n >= kFewestApart;
  const double i = static_cast<double>(cell % side_) + 0.5, j = static_cast<double>(cell / side_) + 0.5;
  *out = {
      .low = {corner_.x + i * scale_.cell_m, corner_.y + j * scale_.cell_m, low_[cell] + low.above.mean},
      .rise = up.above.mean - low.above.mean,
      .wide_rise = about[about.size() / 2] - low.above.mean,
      .low_thick = std::sqrt(low.above.variance()),
      .up_thick = std::sqrt(up.above.variance()),
      .low_halo = low.halo / low.above.n,
      .up_halo = up.halo / up.above.n,
      .shared = count([](std::uint8_t h) { return h == 3; }),
      .expected = in_low * in_up / static_cast<double>(held.size()),
      .apart = can_be_apart ? std::hypot(low.u.mean - up.u.mean, low.v.mean - up.v.mean) /
                                  std::sqrt(std::max(low.places() + up.places(), kLeastVariance))
                            : std::nan(""),
  };
  return true;
}

}  // namespace pc

#include "ops/ground/ground_cells.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kRowGrain = 2;
constexpr std::size_t kRoughnessSample = 400'000;
constexpr int kBetweenReach = 2;  // cells to either side
constexpr std::uint32_t kBlock = 8;
constexpr int kBlockReach = 4;  // cells, no more than kBlock

/// Moments of weighted points about the cell's centre.
struct Moments {
  double s = 0, su = 0, sv = 0, suu = 0, suv = 0, svv = 0, sz = 0, suz = 0, svz = 0;
  int count = 0;

  void add(double u, double v, double z, double weight) {
    s += weight;
    su += weight * u;
    sv += weight * v;
    suu += weight * u * u;
    suv += weight * u * v;
    svv += weight * v * v;
    sz += weight * z;
    suz += weight * u * z;
    svz += weight * v * z;
    ++count;
  }

  /// Least squares with a little pull to level, so that points in a line make a plane too.
  CellPlane plane() const {
    const double mu = su / s, mv = sv / s, mz = sz / s, ridge = 0.02 * s;
    const double uu = suu - s * mu * mu + ridge, uv = suv - s * mu * mv, vv = svv - s * mv * mv + ridge;
    const double uz = suz - s * mu * mz, vz = svz - s * mv * mz, determinant = uu * vv - uv * uv;
    const double gu = (uz * vv - vz * uv) / determinant, gv = (vz * uu - uz * uv) / determinant;
    return {static_cast<float>(mz - gu * mu - gv * mv), static_cast<float>(gu), static_cast<float>(gv)};
  }
};

}  // namespace

BulkVector<CellPoint> lowest_points(Span<const Vec3d> xyz, const SurfaceGrid& lowest,
                                    const LowOutliers& outliers, OpContext& ctx) {
  using namespace cloth_kernel;
  const Lattice& lattice = lowest.lattice;
  BulkVector<std::uint32_t> offset(lattice.cells());
  std::fill(offset.begin(), offset.end(), kNoKey);
  parallel_for(ctx, xyz.size, kPointGrain, [&, floor = outliers.view()](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!finite(xyz[i])) continue;
      const std::size_t cell = cell_of(lattice, xyz[i]);
      if (height_of(lattice, xyz[i]) != lowest.height[cell] || floor.below(xyz[i])) continue;
      const CellPosition at = position_of(lattice, xyz[i]);
      const auto part = [](double value) {
        return static_cast<std::uint32_t>((value + 0.5 - std::floor(value + 0.5)) * 65535.0);
      };
      atomic_min(offset.data() + cell, part(at.u) << 16 | part(at.v));
    }
  });
  BulkVector<CellPoint> points(lattice.cells());
  for (std::size_t cell = 0; cell < points.size(); ++cell) {
    points[cell] = {static_cast<float>(offset[cell] >> 16) / 65535.0F - 0.5F,
                    static_cast<float>(offset[cell] & 0xffffU) / 65535.0F - 0.5F, lowest.height[cell]};
  }
  return points;
}

GroundCells::GroundCells(const cloth_kernel::Lattice& lattice, BulkVector<CellPoint> points,
                         BulkVector<std::uint8_t> ground)
    : lattice_(lattice), points_(std::move(points)), ground_(std::move(ground)) {
  for (std::size_t cell = 0; cell < ground_.size(); ++cell) {
    if (std::isnan(points_[cell].height)) ground_[cell] = 0;
  }
}

/// Looks 1, 2, 3, 6 .. cells around until enough ground is found; nearer points weigh more.
bool GroundCells::fit(std::size_t x, std::size_t y, const Fit& how, CellPlane& plane) const {
  for (int radius = 1; radius <= how.max_radius; ++radius) {
    Moments moments;
    const double scale = 0.6 * radius + 0.4, falloff = 0.3 / (scale * scale);
    const auto first_u = std::max<std::int64_t>(0, static_cast<std::int64_t>(x) - radius);
    const auto last_u = std::min<std::int64_t>(lattice_.nx - 1, static_cast<std::int64_t>(x) + radius);
    const auto first_v = std::max<std::int64_t>(0, static_cast<std::int64_t>(y) - radius);
    const auto last_v = std::min<std::int64_t>(lattice_.ny - 1, static_cast<std::int64_t>(y) + radius);
    for (std::int64_t v = first_v; v <= last_v; ++v) {
      for (std::int64_t u = first_u; u <= last_u; ++u) {
        const auto cell = static_cast<std::size_t>(v * lattice_.nx + u);
        const bool self = cell == y * lattice_.nx + x;
        if (ground_[cell] == 0 || (self && !how.with_self)) continue;
        const double du = static_cast<double>(u) - static_cast<double>(x) + points_[cell].du;
        const double dv = static_cast<double>(v) - static_cast<double>(y) + points_[cell].dv;
        const double near = 1 / (1 + falloff * (du * du + dv * dv));
        moments.add(du, dv, points_[cell].height, near * near);
      }
    }
    if (moments.count < how.fewest) continue;
    plane = moments.plane();
    return true;
  }
  return false;
}

bool GroundCells::ground_along(std::size_t x, std::size_t y, int du, int dv, float& height,
                               int& distance) const {
  for (distance = 1; distance <= kBetweenReach; ++distance) {
    const auto u = static_cast<std::int64_t>(x) + distance * du,
               v = static_cast<std::int64_t>(y) + distance * dv;
    if (u < 0 || v < 0 || u >= lattice_.nx || v >= lattice_.ny) return false;
    const auto cell = static_cast<std::size_t>(v * lattice_.nx + u);
    if (ground_[cell] == 0) continue;
    height = points_[cell].height;
    return true;
  }
  return false;
}

/// On the face of a slope: ground on opposite sides, one of them higher.
bool GroundCells::lies_between(std::size_t x, std::size_t y, const GrowthRule& rule) const {
  const float height = points_[y * lattice_.nx + x].height;
  for (const auto& [du, dv] : {std::pair{1, 0}, {0, 1}, {1, 1}, {1, -1}}) {
    float a = 0, b = 0;
    int to_a = 0, to_b = 0;
    if (!ground_along(x, y, du, dv, a, to_a) || !ground_along(x, y, -du, -dv, b, to_b)) continue;
    const float line =
        (a * static_cast<float>(to_b) + b * static_cast<float>(to_a)) / static_cast<float>(to_a + to_b);
    const float limit = std::min(std::max(a, b), line + rule.between_share * std::abs(a - b));
    if (height <= limit + rule.rise_m) return true;
  }
  return false;
}

std::uint8_t GroundCells::revised(std::size_t x, std::size_t y, const GrowthRule& rule, bool thin) const {
  const std::size_t cell = y * lattice_.nx + x;
  const bool before = ground_[cell] != 0;
  if (std::isnan(points_[cell].height) || (before && !thin)) return before;
  CellPlane plane{};
  if (!fit(x, y, before ? Fit{false, 5, 3} : Fit{false, 4, 2}, plane)) return before;
  const float above = points_[cell].height - plane.at(points_[cell].du, points_[cell].dv);
  const float limit = rule.rise_m + rule.slope_share * std::sqrt(plane.gu * plane.gu + plane.gv * plane.gv);
  if (above <= (before ? 2 * limit : limit)) return 1;
  return rule.between_share > 0 && lies_between(x, y, rule) ? 1 : 0;
}

std::uint64_t GroundCells::revise(const GrowthRule& rule, bool thin, OpContext& ctx) {
  BulkVector<std::uint8_t> next(ground_.size());
  std::atomic<std::uint64_t> changed{0};
  parallel_for(ctx, lattice_.ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t y = begin; y < end; ++y) {
      for (std::size_t x = 0; x < lattice_.nx; ++x) {
        const std::size_t cell = y * lattice_.nx + x;
        next[cell] = revised(x, y, rule, thin);
        own += next[cell] != ground_[cell];
      }
    }
    changed.fetch_add(own, std::memory_order_relaxed);
  });
  std::swap(ground_, next);
  return changed;
}

double GroundCells::roughness(OpContext& ctx) const {
  const std::size_t step = std::max<std::size_t>(1, points_.size() / kRoughnessSample);
  BulkVector<float> off((points_.size() + step - 1) / step);
  parallel_for(ctx, off.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t cell = i * step;
      CellPlane plane{};
      off[i] = -1;
      if (ground_[cell] == 0 || !fit(cell % lattice_.nx, cell / lattice_.nx, {false, 6, 2}, plane)) continue;
      off[i] = std::abs(points_[cell].height - plane.at(points_[cell].du, points_[cell].dv));
    }
  });
  std::vector<float> known;
  std::copy_if(off.begin(), off.end(), std::back_inserter(known), [](float value) { return value >= 0; });
  if (known.empty()) return 0;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  return 1.4826 * static_cast<double>(*middle);
}

/// Which blocks of kBlock x kBlock cells hold ground: most of a large lattice may hold none.
BulkVector<std::uint8_t> GroundCells::blocks_with_ground() const {
  const std::size_t across = lattice_.nx / kBlock + 1;
  BulkVector<std::uint8_t> blocks(across * (lattice_.ny / kBlock + 1));
  for (std::size_t cell = 0; cell < ground_.size(); ++cell) {
    if (ground_[cell] != 0) blocks[cell / lattice_.nx / kBlock * across + cell % lattice_.nx / kBlock] = 1;
  }
  return blocks;
}

BulkVector<CellPlane> GroundCells::planes(const SurfaceGrid& far, OpContext& ctx) const {
  const BulkVector<std::uint8_t> blocks = blocks_with_ground();
  const std::int64_t across = lattice_.nx / kBlock + 1, down = lattice_.ny / kBlock + 1;
  const auto any_near = [&](std::size_t x, std::size_t y) {
    const auto i = static_cast<std::int64_t>(x / kBlock), j = static_cast<std::int64_t>(y / kBlock);
    for (std::int64_t b = std::max<std::int64_t>(0, j - 1); b <= std::min(down - 1, j + 1); ++b) {
      for (std::int64_t a = std::max<std::int64_t>(0, i - 1); a <= std::min(across - 1, i + 1); ++a) {
        if (blocks[static_cast<std::size_t>(b * across + a)] != 0) return true;
      }
    }
    return false;
  };
  BulkVector<CellPlane> planes(ground_.size());
  parallel_for(ctx, lattice_.ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
      for (std::size_t x = 0; x < lattice_.nx; ++x) {
        const std::size_t cell = y * lattice_.nx + x;
        if (!any_near(x, y) || !fit(x, y, {true, 5, kBlockReach}, planes[cell]))
          planes[cell] = {far.height[cell], 0, 0};
      }
    }
  });
  return planes;
}

}  // namespace pc

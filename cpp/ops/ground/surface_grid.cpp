#include "ops/ground/surface_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"

namespace pc {

namespace {

using namespace cloth_kernel;

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kRowGrain = 8;
constexpr int kRelaxations = 24;
constexpr float kHuge = std::numeric_limits<float>::infinity();

struct Level {
  std::uint32_t nx, ny;
  BulkVector<float> value;
  BulkVector<std::uint8_t> known;
};

/// A level of half the size; a cell is the mean of its known children.
Level coarser(const Level& fine, OpContext& ctx) {
  Level coarse{(fine.nx + 1) / 2, (fine.ny + 1) / 2, {}, {}};
  const std::size_t cells = static_cast<std::size_t>(coarse.nx) * coarse.ny;
  coarse.value.resize(cells);
  coarse.known.resize(cells);
  parallel_for(ctx, coarse.ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
      for (std::size_t x = 0; x < coarse.nx; ++x) {
        float sum = 0, count = 0;
        for (std::size_t v = 2 * y; v < std::min<std::size_t>(2 * y + 2, fine.ny); ++v) {
          for (std::size_t u = 2 * x; u < std::min<std::size_t>(2 * x + 2, fine.nx); ++u) {
            if (fine.known[v * fine.nx + u] == 0) continue;
            sum += fine.value[v * fine.nx + u];
            count += 1;
          }
        }
        coarse.known[y * coarse.nx + x] = count > 0 ? 1 : 0;
        coarse.value[y * coarse.nx + x] = count > 0 ? sum / count : 0;
      }
    }
  });
  return coarse;
}

/// Interpolates the unknown cells of `fine` from the solved `coarse`, bilinearly.
void prolong(const Level& coarse, Level& fine, OpContext& ctx) {
  parallel_for(ctx, fine.ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
      const float v = std::max(0.0F, (static_cast<float>(y) - 0.5F) / 2);
      const auto j = std::min(static_cast<std::size_t>(v), static_cast<std::size_t>(coarse.ny - 1));
      const std::size_t j1 = std::min<std::size_t>(j + 1, coarse.ny - 1);
      for (std::size_t x = 0; x < fine.nx; ++x) {
        if (fine.known[y * fine.nx + x] != 0) continue;
        const float u = std::max(0.0F, (static_cast<float>(x) - 0.5F) / 2);
        const auto i = std::min(static_cast<std::size_t>(u), static_cast<std::size_t>(coarse.nx - 1));
        const std::size_t i1 = std::min<std::size_t>(i + 1, coarse.nx - 1);
        const float fu = u - static_cast<float>(i), fv = v - static_cast<float>(j);
        const float low = coarse.value[j * coarse.nx + i] * (1 - fu) + coarse.value[j * coarse.nx + i1] * fu;
        const float high =
            coarse.value[j1 * coarse.nx + i] * (1 - fu) + coarse.value[j1 * coarse.nx + i1] * fu;
        fine.value[y * fine.nx + x] = low * (1 - fv) + high * fv;
      }
    }
  });
}

/// Gauss-Seidel in two colours: cells of one colour read only cells of the other.
void relax_unknown(Level& level, OpContext& ctx) {
  for (int half_step = 0; half_step < 2 * kRelaxations; ++half_step) {
    const std::size_t color = static_cast<std::size_t>(half_step) % 2;
    parallel_for(ctx, level.ny, 4 * kRowGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t y = begin; y < end; ++y) {
        const std::size_t up = y > 0 ? y - 1 : y, down = y + 1 < level.ny ? y + 1 : y;
        for (std::size_t x = (y + color) % 2; x < level.nx; x += 2) {
          const std::size_t cell = y * level.nx + x;
          if (level.known[cell] != 0) continue;
          const std::size_t left = x > 0 ? cell - 1 : cell, right = x + 1 < level.nx ? cell + 1 : cell;
          level.value[cell] = 0.25F * ((level.value[left] + level.value[right]) +
                                       (level.value[up * level.nx + x] + level.value[down * level.nx + x]));
        }
      }
    });
  }
}

/// The lowest (negated: the highest) of the `half` values on each side of each value: van Herk 1992, Gil & Werman 1993.
class SlidingMinimum {
 public:
  void run(const float* in, float* out, std::size_t n, std::size_t half) {
    const std::size_t window = 2 * half + 1, padded = n + 2 * half;
    forward_.resize(padded);
    backward_.resize(padded);
    const auto at = [&](std::size_t i) { return i < half || i >= n + half ? kHuge : in[i - half]; };
    for (std::size_t i = 0; i < padded; ++i)
      forward_[i] = i % window == 0 ? at(i) : std::min(forward_[i - 1], at(i));
    for (std::size_t i = padded; i-- > 0;)
      backward_[i] = i + 1 == padded || (i + 1) % window == 0 ? at(i) : std::min(backward_[i + 1], at(i));
    for (std::size_t i = 0; i < n; ++i) out[i] = std::min(backward_[i], forward_[i + 2 * half]);
  }

 private:
  std::vector<float> forward_, backward_;
};

/// Lowest value within the disk of each cell.
BulkVector<float> disk_minimum(const BulkVector<float>& in, std::uint32_t nx, std::uint32_t ny,
                               std::uint32_t radius, OpContext& ctx) {
  BulkVector<float> out(in.size());
  const auto r = static_cast<std::int64_t>(radius);
  parallel_for(ctx, ny, kRowGrain, [&](std::size_t begin, std::size_t end) {
    SlidingMinimum slide;
    std::vector<float> row(nx);
    for (auto y = static_cast<std::int64_t>(begin); y < static_cast<std::int64_t>(end); ++y) {
      float* const to = out.data() + y * nx;
      std::fill(to, to + nx, kHuge);
      for (std::int64_t dy = -r; dy <= r; ++dy) {
        if (y + dy < 0 || y + dy >= ny) continue;
        const auto half = static_cast<std::size_t>(std::sqrt(static_cast<double>(r * r - dy * dy)));
        slide.run(in.data() + (y + dy) * nx, row.data(), nx, half);
        for (std::size_t x = 0; x < nx; ++x) to[x] = std::min(to[x], row[x]);
      }
    }
  });
  return out;
}

}  // namespace

SurfaceGrid lowest_surface(Span<const Vec3d> xyz, const Lattice& lattice, const LowOutliers& outliers,
                           OpContext& ctx) {
  BulkVector<std::uint32_t> keys(lattice.cells());
  std::fill(keys.begin(), keys.end(), kAboveAllFloats);
  const LowestPass pass{xyz.data, outliers.view(), lattice, keys.data()};
  parallel_for(ctx, xyz.size, kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) offer_lowest(i, pass);
  });
  SurfaceGrid grid{lattice, BulkVector<float>(lattice.cells())};
  for (std::size_t cell = 0; cell < keys.size(); ++cell) grid.height[cell] = float_of_ordered(keys[cell]);
  return grid;
}

void fill_membrane(SurfaceGrid& grid, MembraneDetail detail, OpContext& ctx) {
  std::vector<Level> levels(1);
  levels[0].nx = grid.lattice.nx;
  levels[0].ny = grid.lattice.ny;
  levels[0].value.resize(grid.height.size());
  levels[0].known.resize(grid.height.size());
  bool any = false;
  for (std::size_t cell = 0; cell < grid.height.size(); ++cell) {
    const bool known = !std::isnan(grid.height[cell]);
    levels[0].known[cell] = known ? 1 : 0;
    levels[0].value[cell] = known ? grid.height[cell] : 0;
    any |= known;
  }
  if (!any) return;
  while (levels.back().nx > 1 || levels.back().ny > 1) levels.push_back(coarser(levels.back(), ctx));
  for (std::size_t level = levels.size() - 1; level-- > 0;) {
    prolong(levels[level + 1], levels[level], ctx);
    if (level > 0 || detail == MembraneDetail::kEveryCell) relax_unknown(levels[level], ctx);
  }
  std::swap(grid.height, levels[0].value);
}

void open_by_disk(SurfaceGrid& grid, std::uint32_t radius, OpContext& ctx) {
  const std::uint32_t nx = grid.lattice.nx, ny = grid.lattice.ny;
  BulkVector<float> eroded = disk_minimum(grid.height, nx, ny, radius, ctx);
  for (float& value : eroded) value = -value;
  grid.height = disk_minimum(eroded, nx, ny, radius, ctx);
  for (float& value : grid.height) value = -value;
}

SurfacePoint surface_at(const SurfaceGrid& grid, const Vec3d& p) {
  const LatticePatch at = grid.lattice.patch_of(p);
  const float* const a = grid.height.data() + grid.index(at.i, at.j);
  const float* const b = a + grid.lattice.nx;
  const float low = a[0] + at.fu * (a[1] - a[0]), high = b[0] + at.fu * (b[1] - b[0]);
  const float gx = (1 - at.fv) * (a[1] - a[0]) + at.fv * (b[1] - b[0]), gy = high - low;
  return {low + at.fv * (high - low), std::sqrt(gx * gx + gy * gy) / static_cast<float>(grid.lattice.size)};
}

}  // namespace pc

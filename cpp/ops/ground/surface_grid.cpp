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

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 14;
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
  parallel_row_parts(ctx, coarse.nx, coarse.ny, kCellGrain,
                     [&](std::size_t y, std::size_t x_begin, std::size_t x_end) {
                       for (std::size_t x = x_begin; x < x_end; ++x) {
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
                     });
  return coarse;
}

/// Interpolates the unknown cells of `fine` from the solved `coarse`, bilinearly.
void prolong(const Level& coarse, Level& fine, OpContext& ctx) {
  parallel_row_parts(
      ctx, fine.nx, fine.ny, kCellGrain, [&](std::size_t y, std::size_t x_begin, std::size_t x_end) {
        const float v = std::max(0.0F, (static_cast<float>(y) - 0.5F) / 2);
        const auto j = std::min(static_cast<std::size_t>(v), static_cast<std::size_t>(coarse.ny - 1));
        const std::size_t j1 = std::min<std::size_t>(j + 1, coarse.ny - 1);
        for (std::size_t x = x_begin; x < x_end; ++x) {
          if (fine.known[y * fine.nx + x] != 0) continue;
          const float u = std::max(0.0F, (static_cast<float>(x) - 0.5F) / 2);
          const auto i = std::min(static_cast<std::size_t>(u), static_cast<std::size_t>(coarse.nx - 1));
          const std::size_t i1 = std::min<std::size_t>(i + 1, coarse.nx - 1);
          const float fu = u - static_cast<float>(i), fv = v - static_cast<float>(j);
          const float low =
              coarse.value[j * coarse.nx + i] * (1 - fu) + coarse.value[j * coarse.nx + i1] * fu;
          const float high =
              coarse.value[j1 * coarse.nx + i] * (1 - fu) + coarse.value[j1 * coarse.nx + i1] * fu;
          fine.value[y * fine.nx + x] = low * (1 - fv) + high * fv;
        }
      });
}

/// Gauss-Seidel in two colours: cells of one colour read only cells of the other.
void relax_unknown(Level& level, OpContext& ctx) {
  for (int half_step = 0; half_step < 2 * kRelaxations; ++half_step) {
    const std::size_t color = static_cast<std::size_t>(half_step) % 2;
    parallel_row_parts(
        ctx, level.nx, level.ny, 4 * kCellGrain, [&](std::size_t y, std::size_t x_begin, std::size_t x_end) {
          const std::size_t up = y > 0 ? y - 1 : y, down = y + 1 < level.ny ? y + 1 : y;
          for (std::size_t x = x_begin + (x_begin + y + color) % 2; x < x_end; x += 2) {
            const std::size_t cell = y * level.nx + x;
            if (level.known[cell] != 0) continue;
            const std::size_t left = x > 0 ? cell - 1 : cell, right = x + 1 < level.nx ? cell + 1 : cell;
            level.value[cell] = 0.25F * ((level.value[left] + level.value[right]) +
                                         (level.value[up * level.nx + x] + level.value[down * level.nx + x]));
          }
        });
  }
}

/// Lowest values of one row over the chords of a disk: tables of the minima over 2^k cells, of which any chord needs two
/// (Urbach & Wilkinson 2008, IEEE Trans. Image Process. 17(1), 1-8).
class ChordMinima {
 public:
  /// Cells [begin, end) of a row of nx cells, with `radius` cells on both sides; beyond the row nothing counts.
  void take(const float* row, std::size_t nx, std::size_t begin, std::size_t end, std::size_t radius) {
    radius_ = radius;
    width_ = end - begin;
    const std::size_t size = width_ + 2 * radius;
    stride_ = size;
    std::size_t levels = 1;
    while ((std::size_t{2} << (levels - 1)) <= 2 * radius + 1) ++levels;
    table_.resize(levels * size);
    float* const first = table_.data();
    const std::size_t low = begin > radius ? begin - radius : 0, high = std::min(nx, end + radius);
    const std::size_t skipped = low + radius - begin;
    std::fill(first, first + skipped, kHuge);
    std::copy(row + low, row + high, first + skipped);
    std::fill(first + skipped + (high - low), first + size, kHuge);
    for (std::size_t k = 1; k < levels; ++k) {
      const std::size_t half = std::size_t{1} << (k - 1), count = size + 1 - 2 * half;
      const float* const from = first + (k - 1) * size;
      float* const to = first + k * size;
      for (std::size_t i = 0; i < count; ++i) to[i] = std::min(from[i], from[i + half]);
    }
  }

  /// out[i] = min(out[i], lowest of the `half` cells on each side of cell i).
  void lower(float* out, std::size_t half) const {
    const std::size_t length = 2 * half + 1;
    std::size_t k = 0;
    while ((std::size_t{2} << k) <= length) ++k;
    const float* const left = table_.data() + k * stride_ + (radius_ - half);
    const float* const right = left + length - (std::size_t{1} << k);
    for (std::size_t i = 0; i < width_; ++i) out[i] = std::min(out[i], std::min(left[i], right[i]));
  }

 private:
  std::vector<float> table_;
  std::size_t radius_ = 0, width_ = 0, stride_ = 0;
};

/// Lowest value within the disk of each cell, by tiles.
BulkVector<float> disk_minimum(const BulkVector<float>& in, std::size_t nx, std::size_t ny,
                               std::size_t radius, OpContext& ctx) {
  constexpr std::size_t kTileRows = 64, kTileColumns = 2048;
  BulkVector<float> out(in.size());
  std::vector<std::size_t> half(radius + 1);
  for (std::size_t dy = 0; dy <= radius; ++dy)
    half[dy] = static_cast<std::size_t>(std::sqrt(static_cast<double>(radius * radius - dy * dy)));
  const std::size_t across = (nx + kTileColumns - 1) / kTileColumns, down = (ny + kTileRows - 1) / kTileRows;
  parallel_for(ctx, across * down, 1, [&](std::size_t begin, std::size_t end) {
    ChordMinima chords;
    for (std::size_t tile = begin; tile < end; ++tile) {
      const std::size_t x0 = tile % across * kTileColumns, x1 = std::min(nx, x0 + kTileColumns);
      const std::size_t y0 = tile / across * kTileRows, y1 = std::min(ny, y0 + kTileRows);
      for (std::size_t y = y0; y < y1; ++y)
        std::fill(out.data() + y * nx + x0, out.data() + y * nx + x1, kHuge);
      for (std::size_t v = y0 > radius ? y0 - radius : 0; v < std::min(ny, y1 + radius); ++v) {
        chords.take(in.data() + v * nx, nx, x0, x1, radius);
        for (std::size_t y = std::max(y0, v > radius ? v - radius : 0); y < std::min(y1, v + radius + 1); ++y)
          chords.lower(out.data() + y * nx + x0, half[y > v ? y - v : v - y]);
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
  const std::size_t nx = grid.lattice.nx, ny = grid.lattice.ny;
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

#include "ops/trees/stem_surface.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"
#include "core/symmetric_eigen.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = 1024;
constexpr double kCell = StemLayer::kCell;
/// Of the sum of the variances: bark of 1 cm has .03 across the surface, a stem of 20 cm .05, and points without a
/// surface .2 to .33.
constexpr double kFlat = 0.10;
constexpr double kLevel = 0.5;  // |z| of the normal: surfaces up to 30 degrees from upright
constexpr double kLeastPoints = 4;
constexpr double kFullShare = 0.7;
constexpr std::size_t kPolled = 4096;

/// The points of a cube: moments about the cube's center.
struct Cube {
  std::int32_t level;  ///< index of its height
  float count, x, y, z;
  std::array<float, 6> square;  ///< xx xy xz yy yz zz
};

struct Moments {
  double n = 0, x = 0, y = 0, z = 0;
  std::array<double, 6> square{};

  /// Adds a cube whose center lies at (dx, dy, dz).
  void add(const Cube& cube, double dx, double dy, double dz) {
    const double m = cube.count, sx = cube.x, sy = cube.y, sz = cube.z;
    n += m;
    x += sx + m * dx;
    y += sy + m * dy;
    z += sz + m * dz;
    square[0] += cube.square[0] + 2 * dx * sx + m * dx * dx;
    square[1] += cube.square[1] + dx * sy + dy * sx + m * dx * dy;
    square[2] += cube.square[2] + dx * sz + dz * sx + m * dx * dz;
    square[3] += cube.square[3] + 2 * dy * sy + m * dy * dy;
    square[4] += cube.square[4] + dy * sz + dz * sy + m * dy * dz;
    square[5] += cube.square[5] + 2 * dz * sz + m * dz * dz;
  }

  bool is_upright() const {
    if (n < kLeastPoints) return false;
    const double a = x / n, b = y / n, c = z / n;
    const SymmetricEigen3 eigen =
        symmetric_eigen({square[0] / n - a * a, square[1] / n - a * b, square[2] / n - a * c,
                         square[3] / n - b * b, square[4] / n - b * c, square[5] / n - c * c});
    const double sum = eigen.value[0] + eigen.value[1] + eigen.value[2];
    return eigen.value[0] <= kFlat * sum && std::abs(eigen.vector[0].z) <= kLevel;
  }
};

/// The cubes with points: those of a cell from bottom to top.
struct Cubes {
  BulkVector<Cube> cubes;
  BulkVector<std::uint32_t> starts;

  Span<const Cube> of(std::size_t cell) const {
    return cubes.view().subspan(starts[cell], starts[cell + 1] - starts[cell]);
  }
};

std::int32_t level_of(double z) { return static_cast<std::int32_t>(std::floor(z / kCell)); }

void fill(const StemLayer& layer, std::size_t cell, Span<Cube> out) {
  const double x = (static_cast<double>(layer.cell_x(cell)) + 0.5) * kCell;
  const double y = (static_cast<double>(layer.cell_y(cell)) + 0.5) * kCell;
  std::size_t at = 0;
  bool first = true;
  for (const LayerPoint& p : layer.cell(cell)) {
    const std::int32_t level = level_of(p.at.z);
    if (first || out[at].level != level) {
      if (!first) ++at;
      out[at] = Cube{level, 0, 0, 0, 0, {}};
      first = false;
    }
    Cube& cube = out[at];
    const auto dx = static_cast<float>(p.at.x - x), dy = static_cast<float>(p.at.y - y);
    const auto dz = static_cast<float>(p.at.z - (level + 0.5) * kCell);
    cube.count += 1;
    cube.x += dx;
    cube.y += dy;
    cube.z += dz;
    const float products[6] = {dx * dx, dx * dy, dx * dz, dy * dy, dy * dz, dz * dz};
    for (std::size_t i = 0; i < 6; ++i) cube.square[i] += products[i];
  }
}

Cubes cubes_of(const StemLayer& layer, OpContext& ctx) {
  Cubes out;
  out.starts.resize(layer.cell_count() + 1);
  parallel_for(ctx, layer.cell_count(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::uint32_t count = 0;
      std::int32_t last = 0;
      for (const LayerPoint& p : layer.cell(i)) {
        const std::int32_t level = level_of(p.at.z);
        if (count == 0 || level != last) ++count;
        last = level;
      }
      out.starts[i + 1] = count;
    }
  });
  for (std::size_t i = 0; i < layer.cell_count(); ++i) out.starts[i + 1] += out.starts[i];
  out.cubes.resize(out.starts[layer.cell_count()]);
  parallel_for(ctx, layer.cell_count(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      fill(layer, i, out.cubes.view().subspan(out.starts[i], out.starts[i + 1] - out.starts[i]));
  });
  return out;
}

/// A neighbour of a cell, and its offset in cells.
struct Neighbor {
  std::size_t cell;
  int dx, dy;
};

Moments around(const Cubes& cubes, const std::vector<Neighbor>& neighbors, std::int32_t level) {
  Moments sum;
  for (const Neighbor& near : neighbors) {
    const Span<const Cube> column = cubes.of(near.cell);
    const Cube* cube = std::lower_bound(column.begin(), column.end(), level - 1,
                                        [](const Cube& one, std::int32_t at) { return one.level < at; });
    for (; cube != column.end() && cube->level <= level + 1; ++cube)
      sum.add(*cube, near.dx * kCell, near.dy * kCell, (cube->level - level) * kCell);
  }
  return sum;
}

bool mostly_upright(const Cubes& cubes, std::size_t cell, const std::vector<Neighbor>& neighbors,
                    const OpContext& ctx) {
  const Span<const Cube> column = cubes.of(cell);
  std::size_t upright = 0;
  for (std::size_t i = 0; i < column.size; ++i) {
    if (i % kPolled == 0) ctx.checkpoint();
    if (around(cubes, neighbors, column[i].level).is_upright()) ++upright;
  }
  return 2 * upright >= column.size;
}

}  // namespace

StemSurfaces stem_surfaces(const StemLayer& layer, double height, OpContext& ctx) {
  const Cubes cubes = cubes_of(layer, ctx);
  StemSurfaces out;
  out.upright.resize(layer.cell_count());
  out.full.resize(layer.cell_count());
  parallel_for(ctx, layer.cell_count(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Neighbor> neighbors;
    std::vector<std::int32_t> levels;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t x = layer.cell_x(i), y = layer.cell_y(i);
      neighbors.clear();
      levels.clear();
      layer.for_each_row(x - 1, x + 1, y - 1, y + 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t j = first; j < last; ++j) {
          neighbors.push_back(
              {j, static_cast<int>(layer.cell_x(j) - x), static_cast<int>(layer.cell_y(j) - y)});
          for (const Cube& cube : cubes.of(j)) levels.push_back(cube.level);
        }
      });
      std::sort(levels.begin(), levels.end());
      const auto distinct = std::unique(levels.begin(), levels.end()) - levels.begin();
      out.full[i] = static_cast<double>(distinct) * kCell >= kFullShare * height ? 1 : 0;
      out.upright[i] = mostly_upright(cubes, i, neighbors, ctx) ? 1 : 0;
    }
  });
  return out;
}

}  // namespace pc

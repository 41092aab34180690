#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ops/denoise/voxel_count_kernel.h"

namespace pc::test {
namespace {

using voxel_count_kernel::Cells;
using voxel_count_kernel::kNoCell;
using voxel_count_kernel::Table;

constexpr std::size_t kCells = 1 << 15;

/// Mean number of slots looked at to find a cell in a table that is half full; 1.5 for random keys (Knuth, TAOCP 3,
/// section 6.4, formula 22).
double mean_probes(const std::vector<std::uint64_t>& cells) {
  std::vector<std::uint64_t> keys(2 * cells.size(), kNoCell);
  std::vector<std::uint32_t> counts(keys.size());
  const Table table{keys.data(), counts.data(), keys.size() - 1};
  for (const std::uint64_t key : cells)
    voxel_count_kernel::count_key<voxel_count_kernel::OwnMemory>(key, table);
  double probes = 0;
  for (const std::uint64_t key : cells)
    probes += static_cast<double>(((table.slot_of(key) - table.first(key)) & table.mask) + 1);
  return probes / static_cast<double>(cells.size());
}

std::vector<std::uint64_t> cells_of(const std::vector<Vec3d>& points) {
  const Cells cells{{0, 0, 0}, 1, {0, 0, 0}};
  std::vector<std::uint64_t> keys;
  for (const Vec3d& p : points) keys.push_back(cells.key(p));
  return keys;
}

Vec3d along(const std::array<int, 3>& axes, std::size_t i) {
  constexpr std::size_t kSide = 181;  // about the square root of kCells
  const std::array<double, 3> steps{static_cast<double>(i), static_cast<double>(i / kSide),
                                    static_cast<double>(i % kSide)};
  const auto at = [&](int axis) { return axis < 0 ? 0.5 : steps[static_cast<std::size_t>(axis)] + 0.5; };
  return {at(axes[0]), at(axes[1]), at(axes[2])};
}

TEST(VoxelTable, LinesAndPlanesSpreadLikeRandomCells) {
  struct Shape {
    std::string name;
    std::array<int, 3> axes;  ///< 0: row number, 1 and 2: row and column of a square, -1: constant
  };
  const std::vector<Shape> shapes{{"line along x", {0, -1, -1}}, {"line along y", {-1, 0, -1}},
                                  {"line along z", {-1, -1, 0}}, {"diagonal", {0, 0, 0}},
                                  {"plane xy", {1, 2, -1}},      {"plane xz", {1, -1, 2}},
                                  {"plane yz", {-1, 1, 2}},      {"slanted plane", {1, 2, 1}}};
  for (const Shape& shape : shapes) {
    for (const double step : {1.0, 2.0, 16.0}) {
      std::vector<Vec3d> points(kCells);
      for (std::size_t i = 0; i < kCells; ++i) {
        const Vec3d p = along(shape.axes, i);
        points[i] = {std::floor(p.x) * step + 0.5, std::floor(p.y) * step + 0.5,
                     std::floor(p.z) * step + 0.5};
      }
      EXPECT_LT(mean_probes(cells_of(points)), 2.5) << shape.name << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace pc::test

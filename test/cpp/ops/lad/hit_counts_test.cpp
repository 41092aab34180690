#include "ops/lad/hit_counts.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/beams.h"

namespace pc {
namespace {

std::vector<std::uint32_t> counts_of(const std::vector<CountedHits>& scans, const VoxelBox& grid,
                                     int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const Column<std::uint32_t> found = hit_counts(scans, grid, ctx);
  return {found.view().begin(), found.view().end()};
}

/// Places in and around a box of 4 x 3 x 2 m, a third of them not counted.
struct Places {
  std::vector<Vec3d> positions;
  std::vector<std::uint8_t> is_counted;
  explicit Places(const Vec3d& center, std::uint64_t seed) {
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      positions.push_back(center + Vec3d{test::in_range(seed, 4 * i, -3, 3),
                                         test::in_range(seed, 4 * i + 1, -2, 2),
                                         test::in_range(seed, 4 * i + 2, -1.5, 1.5)});
      is_counted.push_back(random_unit(seed, 4 * i + 3) < 2.0 / 3 ? 1 : 0);
    }
  }
};

TEST(HitCounts, AreThoseOfALoopOverAllCells) {
  const Vec3d far{5e6, -5e6, 100};
  const Places near({0, 0, 0}, 1), there(far, 2);
  const std::vector<CountedHits> scans{
      {test::span_of(near.positions), far, test::span_of(near.is_counted)},
      {test::span_of(there.positions), {0, 0, 0}, test::span_of(there.is_counted)}};
  const VoxelBox grid{far, {4, 3, 2}, 4, 3, 2, 0, {}, {}};
  std::vector<std::uint32_t> wanted(24);
  for (const CountedHits& scan : scans) {
    for (std::size_t i = 0; i < scan.positions.size; ++i) {
      const Vec3d p = scan.positions[i] + scan.shift - far;
      if (scan.is_counted[i] == 0 || p.x < -2 || p.x >= 2 || p.y < -1.5 || p.y >= 1.5 || p.z < -1 || p.z >= 1)
        continue;
      const auto x = static_cast<std::size_t>(p.x + 2), y = static_cast<std::size_t>(p.y + 1.5),
                 z = static_cast<std::size_t>(p.z + 1);
      ++wanted[x + 4 * (y + 3 * z)];
    }
  }
  EXPECT_EQ(counts_of(scans, grid, 1), wanted);
  EXPECT_EQ(counts_of(scans, grid, 4), wanted);
}

TEST(HitCounts, PlacesThatAreNoneAreNowhere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Vec3d> places{{nan, 0, 0}, {1e300, 0, 0}, {0, 0, 0}};
  const std::vector<std::uint8_t> all{1, 1, 1}, two{1, 1};
  const VoxelBox grid{{0, 0, 0}, {1, 1, 1}, 1, 1, 1, 0, {}, {}};
  EXPECT_EQ(counts_of({{test::span_of(places), {0, 0, 0}, test::span_of(all)}}, grid, 2),
            std::vector<std::uint32_t>{1});
  EXPECT_EQ(counts_of({}, grid, 2), std::vector<std::uint32_t>{0});
  EXPECT_THROW(counts_of({{test::span_of(places), {0, 0, 0}, test::span_of(two)}}, grid, 2), Error);
}

}  // namespace
}  // namespace pc

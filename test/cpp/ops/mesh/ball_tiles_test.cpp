#include "ops/mesh/ball_tiles.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"

namespace pc {
namespace {

/// Against asking every tile about every point; points on the borders of tiles and halos included.
TEST(BallTiles, RowsAreThoseThatEachTileHolds) {
  std::vector<Vec3d> points;
  for (std::uint64_t i = 0; i < 3000; ++i)
    points.push_back({-4 + 10 * random_unit(1, 2 * i), 7 + 5 * random_unit(1, 2 * i + 1), 0});
  for (int x = 0; x <= 40; ++x)
    for (int y = 0; y <= 20; ++y) points.push_back({-4 + 0.25 * x, 7 + 0.25 * y, 1});
  JobControl control;
  OpContext ctx(control);
  for (const std::size_t per_side : {1, 2, 5}) {
    const auto sides = static_cast<double>(per_side);
    const BallTiles tiles{per_side, {-4, 7, 0}, {10 / sides, 5 / sides, 1 / sides}};
    for (const double halo : {0.0, 0.25, 0.5, 1.0}) {
      const TileRows found = tile_rows({points.data(), points.size()}, tiles, halo, ctx);
      for (std::size_t tile = 0; tile < tiles.count(); ++tile) {
        std::vector<std::uint32_t> wanted;
        for (std::size_t i = 0; i < points.size(); ++i)
          if (tiles.holds(tile, points[i], halo)) wanted.push_back(static_cast<std::uint32_t>(i));
        const auto rows = found.of(tile);
        ASSERT_EQ(std::vector<std::uint32_t>(rows.begin(), rows.end()), wanted) << per_side << " " << halo;
        ASSERT_FALSE(wanted.empty());
      }
      for (const Vec3d& p : points) ASSERT_TRUE(tiles.holds(tiles.of(p), p, halo));
    }
  }
}

}  // namespace
}  // namespace pc

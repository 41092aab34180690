#include "ops/ground/ground_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/plane_fit.h"
#include "core/random.h"
#include "ops/ground/ground_pieces.h"
#include "ops/ground/ground_surface.h"

namespace pc {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Cells of a metre with a point in the middle of each.
CellLevel level_of(std::uint32_t nx, std::uint32_t ny, const std::function<double(int, int)>& height) {
  CellLevel level{nx, ny, 1, BulkVector<CellPoint>(std::size_t{nx} * ny),
                  BulkVector<std::uint8_t>(std::size_t{nx} * ny)};
  for (std::size_t cell = 0; cell < level.cells(); ++cell) {
    level.points[cell] = {
        0, 0, static_cast<float>(height(static_cast<int>(cell % nx), static_cast<int>(cell / nx)))};
  }
  return level;
}

void set_ground(CellLevel& level, const std::function<bool(int, int)>& is_ground) {
  for (std::size_t cell = 0; cell < level.cells(); ++cell) {
    const bool wanted = is_ground(static_cast<int>(cell % level.nx), static_cast<int>(cell / level.nx));
    level.ground[cell] = wanted && !level.empty(cell) ? 1 : 0;
  }
}

template <class Step>
std::uint64_t with_context(int threads, const Step& step) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return step(ctx);
}

std::vector<std::uint8_t> ground_of(const CellLevel& level) {
  return {level.ground.begin(), level.ground.end()};
}

/// Hills with trees and a cliff, a third of the cells empty.
CellLevel scene(std::uint32_t nx, std::uint32_t ny) {
  return level_of(nx, ny, [](int x, int y) {
    const auto i = static_cast<std::uint64_t>(1000 * y + x);
    if (random_unit(4, i) < 0.33) return static_cast<double>(kNone);
    const double tree = random_unit(5, i) < 0.2 ? 12 * random_unit(6, i) : 0;
    return 2 * std::sin(x / 7.0) + 0.05 * y + (x > 40 ? 5 : 0) + tree;
  });
}

TEST(PlaneFit, GoesThroughAPlaneAndMeasuresTheRest) {
  PlaneFit fit;
  for (const auto& [u, v] : {std::pair{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {2, 3}})
    fit.add(u, v, 1000 + 0.5 * u - 0.25 * v, 1 + u * u);
  const PlaneFit::Plane plane = fit.plane(0);
  EXPECT_NEAR(plane.height, 1000, 1e-9);
  EXPECT_NEAR(plane.gu, 0.5, 1e-9);
  EXPECT_NEAR(plane.gv, -0.25, 1e-9);
  EXPECT_NEAR(fit.deviation(plane), 0, 1e-6);
  PlaneFit rough;
  rough.add(1, 0, 5, 1);
  rough.add(-1, 0, 3, 1);
  rough.add(0, 1, 5, 1);
  rough.add(0, -1, 3, 1);
  EXPECT_NEAR(rough.deviation({4, 0, 0}), 1, 1e-12);
  EXPECT_NEAR(rough.deviation({4, 1, 1}), 0, 1e-9);
}

TEST(PlaneFit, OnePointMakesALevelPlane) {
  PlaneFit fit;
  fit.add(3, 4, 7, 0.5);
  EXPECT_EQ(fit.plane(0.01).height, 7);
  EXPECT_EQ(fit.plane(0.01).rise(), 0);
}

TEST(CellLevel, TheLowestChildCountsAndGivesItsGroundBack) {
  CellLevel fine = level_of(5, 3, [](int x, int y) { return x == 4 ? kNone : 10.0 - x - 2 * y; });
  fine.points[1 * 5 + 1].du = 0.25F;
  with_context(2, [&](OpContext& ctx) {
    CellLevel coarse = coarser_level(fine, ctx);
    EXPECT_EQ(coarse.nx, 3U);
    EXPECT_EQ(coarse.ny, 2U);
    EXPECT_EQ(coarse.size, 2);
    EXPECT_EQ(coarse.points[0].height, 7);
    EXPECT_EQ(coarse.points[0].du, 0.375F);  // the child's centre lies 0.25 east, its point 0.125 farther
    EXPECT_EQ(coarse.points[0].dv, 0.25F);
    EXPECT_TRUE(coarse.empty(2));
    coarse.ground[0] = 1;
    inherit_ground(coarse, fine, ctx);
    return 0;
  });
  for (std::size_t cell = 0; cell < fine.cells(); ++cell) EXPECT_EQ(fine.ground[cell], cell == 6) << cell;
}

TEST(GroundSurface, ABumpLeavesAndAHollowStays) {
  CellLevel level = level_of(15, 15, [](int x, int y) {
    return x == 7 && y == 7 ? 1.0 : x == 3 && y == 3 ? -2.0 : 0.0;
  });
  set_ground(level, [](int, int) { return true; });
  with_context(2, [&](OpContext& ctx) { return GroundSurface(level, kGroundConstants).revise(ctx); });
  EXPECT_EQ(level.ground[7 * 15 + 7], 0);
  EXPECT_EQ(level.ground[3 * 15 + 3], 1);
  EXPECT_EQ(std::count(level.ground.begin(), level.ground.end(), 0), 1);
}

TEST(GroundSurface, TheRimOfATerraceJoinsAndARowOfBushesDoesNot) {
  const auto terrace = [](int x, int) { return x >= 10 ? 4.0 : 0.0; };
  CellLevel rim = level_of(20, 20, terrace);
  set_ground(rim, [](int x, int) { return x != 10 && x != 11; });  // the two rows at the edge are missing
  CellLevel bushes = level_of(20, 20, [](int x, int) { return x == 10 ? 0.8 : 0.0; });
  set_ground(bushes, [](int x, int) { return x != 10; });
  with_context(2, [&](OpContext& ctx) {
    GroundSurface surface(rim, kGroundConstants);
    surface.revise(ctx);
    surface.revise(ctx);
    GroundSurface(bushes, kGroundConstants).revise(ctx);
    return 0;
  });
  EXPECT_EQ(std::count(rim.ground.begin(), rim.ground.end(), 0), 0);
  EXPECT_EQ(std::count(bushes.ground.begin(), bushes.ground.end(), 0), 20);
}

TEST(GroundSurface, LeavingQuietBlocksOutChangesNothing) {
  const std::function<bool(int, int)> starts[] = {
      [](int x, int y) { return (x + 7 * y) % 11 == 0; },  // everywhere
      [](int x, int y) { return x < 2 && y < 2; },         // a front that runs through the blocks
  };
  for (const auto& start : starts) {
    CellLevel level = scene(150, 90), whole = scene(150, 90);
    set_ground(level, start);
    set_ground(whole, start);
    with_context(3, [&](OpContext& ctx) {
      GroundSurface surface(level, kGroundConstants);
      for (int round = 0; round < 16; ++round) {
        const std::uint64_t changed = surface.revise(ctx);
        EXPECT_EQ(changed, GroundSurface(whole, kGroundConstants).revise(ctx))
            << round;  // a new one looks at every block
        EXPECT_EQ(ground_of(level), ground_of(whole)) << round;
      }
      return 0;
    });
  }
}

TEST(GroundPieces, ATableStaysAndABenchJoins) {
  // A table of 2 m on a plain; a bench of 2 m with a wall of 5 m behind it.
  const auto heights = [](int x, int y) {
    if (x >= 4 && x < 9 && y >= 4 && y < 9) return 2.0;
    return y >= 24 ? 5.0 : y >= 20 ? 2.0 : 0.0;
  };
  CellLevel level = level_of(30, 30, heights);
  set_ground(level, [&](int x, int y) { return heights(x, y) != 2.0; });
  EXPECT_EQ(with_context(2, [&](OpContext& ctx) { return join_level_pieces(level, kGroundConstants, ctx); }),
            30U * 4);
  for (int y = 0; y < 30; ++y) {
    for (int x = 0; x < 30; ++x) {
      const bool table = x >= 4 && x < 9 && y >= 4 && y < 9;
      EXPECT_EQ(level.ground[static_cast<std::size_t>(30 * y + x)], !table) << x << " " << y;
    }
  }
}

TEST(GroundPieces, APieceFarFromGroundWaits) {
  CellLevel level = level_of(20, 3, [](int x, int) { return x >= 6 && x < 12 ? kNone : 1.0; });
  set_ground(level, [](int x, int) { return x < 6; });
  EXPECT_EQ(with_context(1, [&](OpContext& ctx) { return join_level_pieces(level, kGroundConstants, ctx); }),
            0U);
}

TEST(GroundPieces, AFaceBetweenLowAndHighGroundJoins) {
  const auto heights = [](int x, int) { return x < 5 ? 0.0 : x == 5 ? 2.0 : x == 6 ? 3.5 : 4.0; };
  CellLevel level = level_of(12, 9, heights);
  const auto ends = [](int x, int) { return x < 5 || x > 6; };
  set_ground(level, ends);
  EXPECT_EQ(with_context(2, [&](OpContext& ctx) { return join_faces(level, kGroundConstants, ctx); }), 18U);
  // A bush in the middle of the face, lower than its top.
  CellLevel tree = level_of(12, 9, [&](int x, int y) { return x == 5 && y == 4 ? 3.2 : heights(x, y); });
  set_ground(tree, ends);
  EXPECT_EQ(with_context(2, [&](OpContext& ctx) { return join_faces(tree, kGroundConstants, ctx); }), 17U);
  EXPECT_EQ(tree.ground[4 * 12 + 5], 0);
}

TEST(GroundPieces, AFaceIsAtLeastAsSteepAsFortyFiveDegrees) {
  // Three metres from the foot to the top; a rise of three is 45 degrees.
  for (const auto& [top, joined] : {std::pair{3.0, 18U}, {2.9, 0U}, {0.3, 0U}}) {
    CellLevel level = level_of(12, 9, [&, rise = top](int x, int) {
      return x < 5 ? 0.0 : x == 5 ? rise / 3 : x == 6 ? 2 * rise / 3 : rise;
    });
    set_ground(level, [](int x, int) { return x < 5 || x > 6; });
    EXPECT_EQ(with_context(2, [&](OpContext& ctx) { return join_faces(level, kGroundConstants, ctx); }),
              joined)
        << top;
  }
}

TEST(GroundSearch, ThreadsChangeNothing) {
  CellLevel one = scene(130, 100), many = scene(130, 100);
  with_context(1, [&](OpContext& ctx) { return find_ground(one, kGroundConstants, ctx), 0; });
  with_context(4, [&](OpContext& ctx) { return find_ground(many, kGroundConstants, ctx), 0; });
  EXPECT_EQ(ground_of(one), ground_of(many));
  EXPECT_GT(std::count(one.ground.begin(), one.ground.end(), 1), 4000);
}

TEST(GroundSearch, OneCellAndNone) {
  CellLevel one = level_of(1, 1, [](int, int) { return 3.0; });
  CellLevel none = level_of(4, 4, [](int, int) { return static_cast<double>(kNone); });
  with_context(1, [&](OpContext& ctx) {
    return find_ground(one, kGroundConstants, ctx), find_ground(none, kGroundConstants, ctx), 0;
  });
  EXPECT_EQ(one.ground[0], 1);
  EXPECT_EQ(std::count(none.ground.begin(), none.ground.end(), 1), 0);
}

}  // namespace
}  // namespace pc

#include "ops/trees/listed_stand.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace pc;

ConvexPolygon square(double x, double y, double half) {
  return {{x - half, y - half}, {x + half, y - half}, {x + half, y + half}, {x - half, y + half}};
}

ListedStandParams params_of(ConvexPolygon plot) {
  return {.plot = std::move(plot),
          .competition_radius_m = 6,
          .least_distance_m = 0.1,
          .cover_cell_m = 0.1,
          .most_cover_cells = 2e7,
          .most_overlap_pairs = 1e7};
}

TEST(ListedStand, TwoTreesCompeteAndOverlapAsByHand) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ListedTree> trees = {
      {{50, 50}, 0.2, square(50, 50, 1)}, {{51, 50}, 0.4, square(51, 50, 1)}, {{20, 20}, none, {}}};
  for (const int threads : {1, 4}) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const ListedStand stand = listed_stand(trees, params_of(square(50, 50, 50)), ctx);
    EXPECT_DOUBLE_EQ(stand.plot_area_m2, 10'000);
    EXPECT_DOUBLE_EQ(stand.competition.hegyi[0], 2);
    EXPECT_DOUBLE_EQ(stand.competition.hegyi[1], 0.5);
    EXPECT_TRUE(std::isnan(stand.competition.hegyi[2]));
    EXPECT_DOUBLE_EQ(stand.cover.overlap_m2[0], 2);
    EXPECT_NEAR(stand.cover.union_area_m2, 6, 0.2);
  }
}

TEST(ListedStand, NoTreesAndNoPlot) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  EXPECT_TRUE(listed_stand({}, params_of(square(5, 5, 5)), ctx).competition.hegyi.empty());
  EXPECT_EQ(listed_stand({{{1, 1}, 0.3, {}}}, params_of({}), ctx).plot_area_m2, 0);
}

}  // namespace

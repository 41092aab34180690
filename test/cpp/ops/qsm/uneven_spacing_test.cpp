#include "ops/qsm/uneven_spacing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace pc {
namespace {

/// Points on a plane, `per_m2` of them.
void add_plane(std::vector<Vec3d>& out, double from, double width, double per_m2, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  const auto count = static_cast<std::size_t>(per_m2 * width);
  for (std::size_t i = 0; i < count; ++i) out.push_back({from + width * unit(random), unit(random), 0});
}

struct Spacing {
  double own, uneven;
  explicit Spacing(const std::vector<Vec3d>& points) {
    JobControl control;
    OpContext ctx(control);
    const PointGraph graph = point_graph({points.data(), points.size()}, 0, ctx);
    own = graph.spacing_m;
    uneven = uneven_spacing(graph, ctx);
  }
};

TEST(UnevenSpacing, AnEvenCloudKeepsItsSpacing) {
  std::vector<Vec3d> points;
  add_plane(points, 0, 1, 5000, 1);
  const Spacing found(points);
  EXPECT_EQ(found.uneven, found.own);
}

TEST(UnevenSpacing, ASparsePartHasItsSay) {
  std::vector<Vec3d> points;
  add_plane(points, 0, 1, 20'000, 1);
  add_plane(points, 1, 10, 200, 2);  // a tenth of the points, ten times as far apart
  const Spacing found(points);
  EXPECT_GT(found.uneven, 3 * found.own);
  EXPECT_LT(found.uneven, 15 * found.own);
}

TEST(UnevenSpacing, FewPoints) {
  EXPECT_TRUE(std::isnan(Spacing({}).uneven));
  EXPECT_TRUE(std::isnan(Spacing({{0, 0, 0}, {0, 0, 0}}).uneven));
  EXPECT_NEAR(Spacing({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}).uneven, 1, 1e-9);
}

}  // namespace
}  // namespace pc

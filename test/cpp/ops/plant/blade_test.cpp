#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "ops/plant/blade_mesh.h"
#include "ops/plant/blade_outline.h"
#include "support/plant_shapes.h"

namespace {

using namespace pc;

/// Area of a closed polygon, positive when it is counter-clockwise (shoelace formula).
double polygon_area(const std::vector<OutlinePoint>& p) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const OutlinePoint &a = p[i], &b = p[(i + 1) % p.size()];
    sum += a.x * b.y - b.x * a.y;
  }
  return sum / 2;
}

BladeShape flat(double width, double base, double tip) {
  BladeShape blade;
  blade.width_ratio = width, blade.base_exponent = base, blade.tip_exponent = tip;
  blade.length_divisions = 200, blade.width_divisions = 2;
  return blade;
}

TEST(BladeOutline, HasTheAreaOfItsClosedForm) {
  // x (1 - x) / max: a parabola of width w has 2/3 w; sqrt(x (1 - x)): an ellipse has pi / 4 w.
  EXPECT_NEAR(pinnate_area(flat(0.6, 1, 1)), 0.4, 1e-12);
  EXPECT_NEAR(pinnate_area(flat(0.6, 0.5, 0.5)), 0.15 * M_PI, 1e-12);
  for (const auto& blade : {flat(0.3, 0.9, 1.05), flat(0.12, 0.28, 0.75), flat(0.85, 0.75, 0.32)}) {
    EXPECT_NEAR(polygon_area(blade_outline(blade, 4000)), pinnate_area(blade), 2e-4 * pinnate_area(blade));
    EXPECT_NEAR(surface_area(blade_mesh(blade, 0, 1)), pinnate_area(blade), 2e-3 * pinnate_area(blade));
  }
}

TEST(BladeOutline, WidestPlaceHasTheWidth) {
  const BladeShape blade = flat(0.4, 0.5, 1.5);
  EXPECT_NEAR(pinnate_half_width(blade, 0.25), 0.2, 1e-12);  // at a / (a + b)
  EXPECT_EQ(pinnate_half_width(blade, 0), 0);
  EXPECT_EQ(pinnate_half_width(blade, 1), 0);
  EXPECT_NEAR(outline_box(test::cordate()).half_width, 0.5 * test::cordate().width_ratio, 1e-12);
}

/// A circle of diameter 1 that touches the base: radius cos(angle), of area pi / 4.
TEST(BladeOutline, PolarCircleHasItsArea) {
  BladeShape blade;
  blade.form = BladeForm::kPolar;
  blade.width_ratio = 1;
  for (int k = 0; k <= 8; ++k) blade.outline.push_back({10.0 * k, std::cos(10.0 * k * M_PI / 180)});
  blade.length_divisions = 160, blade.width_divisions = 2;
  const double missing = 0.25 * (M_PI / 18 - std::sin(M_PI / 9) / 2) * 2;  // both slices beyond 80 degrees
  EXPECT_NEAR(polygon_area(blade_outline(blade, 400)), M_PI / 4 - missing, 2e-3);
  EXPECT_NEAR(surface_area(blade_mesh(blade, 0, 1)), M_PI / 4 - missing, 2e-3);
}

TEST(BladeMesh, FoldAndBendKeepTheArea) {
  BladeShape blade = flat(0.5, 0.7, 0.7);
  const double area = surface_area(blade_mesh(blade, 0, 1));
  blade.fold_deg = 30;
  EXPECT_NEAR(surface_area(blade_mesh(blade, 0, 1)), area, 1e-9);
  blade.fold_deg = 0, blade.bend_deg = 90;
  EXPECT_NEAR(surface_area(blade_mesh(blade, 0, 1)), area, 1e-3 * area);
  blade.cup_deg = 0, blade.twist_deg = 0;
  const OrganMesh bent = blade_mesh(blade, 0, 1);
  // A quarter of a circle of length 1 ends 2 / pi ahead and 2 / pi below.
  const Vec3d tip = bent.positions.back();
  EXPECT_NEAR(tip.x, 2 / M_PI, 1e-4);
  EXPECT_NEAR(tip.z, -2 / M_PI, 1e-4);
}

TEST(BladeMesh, IsOneSheetWithoutDegenerateTriangles) {
  for (const auto& [name, blade] : test::blades())
    for (const double detail : {0.1, 0.5, 1.0, 2.0})
      for (std::uint32_t variant = 0; variant < 3; ++variant) {
        const OrganMesh mesh = blade_mesh(blade, variant, detail);
        SCOPED_TRACE(name + " " + std::to_string(detail));
        test::expect_sound(mesh);
        const test::EdgeCounts edges = test::edge_counts(mesh.triangles);
        EXPECT_EQ(edges.repeated, 0U);
        EXPECT_EQ(edges.open == 0, blade.form == BladeForm::kNeedle);
        if (blade.form == BladeForm::kNeedle) {
          EXPECT_GT(enclosed_volume(mesh), 0);
          continue;
        }
        EXPECT_EQ(mesh.uvs.size(), mesh.positions.size());
        for (const auto& [u, v] : mesh.uvs) EXPECT_TRUE(u >= 0 && u <= 1 && v >= 0 && v <= 1);
        EXPECT_EQ(mesh.uvs[0][0], 0.5F);
      }
}

TEST(BladeMesh, UpperSideFacesUp) {
  for (const auto& [name, blade] : test::blades()) {
    if (blade.form == BladeForm::kNeedle) continue;
    BladeShape open = blade;
    open.bend_deg = open.buckle_deg[0] = open.buckle_deg[1] = open.twist_deg = 0;
    EXPECT_GT(mean_normal(blade_mesh(open, 0, 1)).z, 0.5 * surface_area(blade_mesh(open, 0, 1))) << name;
  }
}

TEST(BladeMesh, VariantsBuckleBetweenTheirLimits) {
  BladeShape grass = flat(0.1, 0.3, 0.8);
  grass.buckle_deg = {25, 55};
  std::map<double, int> turns;
  for (std::uint32_t variant = 0; variant < 20; ++variant) {
    const OrganMesh mesh = blade_mesh(grass, variant, 1);
    const Vec3d end = mesh.positions.back() - mesh.positions[mesh.positions.size() - 7];
    const double turn = std::atan2(-end.z, end.x) * 180 / M_PI;
    EXPECT_GT(turn, 24) << variant;
    EXPECT_LT(turn, 56) << variant;
    ++turns[turn];
  }
  EXPECT_GT(turns.size(), 15U);
}

}  // namespace

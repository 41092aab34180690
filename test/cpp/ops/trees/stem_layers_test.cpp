#include "ops/trees/stem_layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "core/error.h"
#include "ops/trees/two_circles.h"
#include "support/cancel.h"

namespace {

using namespace pc;

constexpr double kPi = std::numbers::pi;

/// What a scan has of a stem: points with errors on the side that it sees.
struct Scan {
  double bearing;  ///< of the scanner, radians
  Vec2d beside;    ///< where the scan has the stem
};

struct StemShape {
  double radius = 0.15, taper = 0.01, flattened = 0, ribs = 0;  // ribs: metres, twelve of them
  Vec2d lean{0, 0};
};

/// Points of the scans from 0.3 m to `top`, `per_metre` for each.
std::vector<Vec3d> seen_by(const std::vector<Scan>& scans, const StemShape& shape, double noise,
                           unsigned seed, double top = 2.5, double per_metre = 1500) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> error(0, noise);
  std::vector<Vec3d> out;
  for (const Scan& scan : scans) {
    for (int i = 0; i < per_metre * (top - 0.3); ++i) {
      const double z = 0.3 + (top - 0.3) * unit(random), angle = 2 * kPi * unit(random);
      if (std::cos(angle - scan.bearing) < 0.2) continue;
      const double range = error(random);
      const double r =
          (shape.radius - shape.taper * (z - 1.3)) * (1 + shape.flattened * std::cos(2 * angle)) +
          shape.ribs * std::cos(12 * angle);
      out.push_back(
          {r * std::cos(angle) + range * std::cos(scan.bearing) + scan.beside.x + shape.lean.x * (z - 1.3),
           r * std::sin(angle) + range * std::sin(scan.bearing) + scan.beside.y + shape.lean.y * (z - 1.3),
           z});
    }
  }
  return out;
}

/// Four scans around a stem; every second one has it `beside`.
std::vector<Scan> four(const Vec2d& beside, double turned = 0.4) {
  std::vector<Scan> out;
  for (int k = 0; k < 8; ++k) out.push_back({turned + k * kPi / 4, k % 2 == 0 ? Vec2d{0, 0} : beside});
  return out;
}

Stem stem_at(const Vec2d& center, double radius, const Vec2d& lean = {0, 0}) {
  Stem stem{};
  StemSection section{};
  section.center = {center.x, center.y, 1.3};
  section.circle.radius = radius;
  stem.breast_height = section;
  const double length = std::sqrt(lean.x * lean.x + lean.y * lean.y + 1);
  stem.axis = {lean.x / length, lean.y / length, 1 / length};
  return stem;
}

std::optional<Vec2d> layers_of(const std::vector<Vec3d>& points, const Stem& stem) {
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  return stem_layers({points.data(), points.size()}, stem, ctx);
}

/// How far from planted layers, whichever way round.
double off(const Vec2d& apart, const Vec2d& planted) {
  return std::min(std::hypot(apart.x - planted.x, apart.y - planted.y),
                  std::hypot(apart.x + planted.x, apart.y + planted.y));
}

TEST(StemLayers, AreAsFarApartAsPlanted) {
  for (const double away : {0.02, 0.04, 0.08, 0.12, 0.18}) {
    for (int k = 0; k < 5; ++k) {
      const Vec2d by{away * std::cos(0.3 + k), away * std::sin(0.3 + k)};
      for (const StemShape& shape : {StemShape{}, StemShape{0.3, 0.02, 0.02, 0.002, {0.1, -0.05}}}) {
        if (away < 0.04 && shape.flattened > 0) continue;  // its axes differ by 12 mm
        const auto points = seen_by(four(by), shape, 0.002, static_cast<unsigned>(k));
        // The circle of an inventory is that of one layer, or between them.
        for (const double at : {0.0, 0.5}) {
          const auto found =
              layers_of(points, stem_at({at * by.x, at * by.y}, shape.radius + 0.02, shape.lean));
          ASSERT_TRUE(found) << away << " m, direction " << k << ", radius " << shape.radius;
          EXPECT_LT(off(*found, by), 0.003) << away << " m, direction " << k << ", radius " << shape.radius;
          EXPECT_TRUE(found->y > 0 || (found->y == 0 && found->x > 0));
        }
      }
    }
  }
}

TEST(StemLayers, OneScanOfNineIsSeen) {
  std::vector<Scan> scans;
  for (int k = 0; k < 9; ++k) scans.push_back({k * 2 * kPi / 9, k == 0 ? Vec2d{0.05, 0} : Vec2d{0, 0}});
  const auto found = layers_of(seen_by(scans, {}, 0.002, 1), stem_at({0, 0}, 0.15));
  ASSERT_TRUE(found);
  EXPECT_LT(off(*found, {0.05, 0}), 0.004);
}

/// Errors of ranges (those of a scan, and those that grow with few scans), ellipses, ribs of bark, one side alone.
TEST(StemLayers, NoneInOneLayer) {
  int of_flat_stems = 0;  // axes 12 % apart, 45 stems
  for (unsigned seed = 0; seed < 3; ++seed) {
    for (const double noise : {0.0005, 0.002, 0.005, 0.01, 0.02}) {
      const std::vector<Scan> one_side{{0.4, {0, 0}}};
      for (const auto& scans : {four({0, 0}), one_side, {{0.4, {0, 0}}, {1.4, {0, 0}}}}) {
        for (const StemShape& shape : {StemShape{},
                                       {0.15, 0.01, 0.03, 0, {0, 0}},
                                       {0.25, 0.01, 0.06, 0, {0, 0}},
                                       {0.25, 0.03, 0, 0.008, {0.05, 0}},
                                       {0.05, 0, 0, 0, {0, 0}}}) {
          const auto found =
              layers_of(seen_by(scans, shape, noise, seed), stem_at({0, 0}, shape.radius, shape.lean));
          if (shape.flattened > 0.05) {
            of_flat_stems += found ? 1 : 0;
            continue;
          }
          EXPECT_FALSE(found) << noise << " m of noise, " << scans.size() << " scans, radius " << shape.radius
                              << ", flattened " << shape.flattened << ", ribs " << shape.ribs << ": "
                              << (found ? std::hypot(found->x, found->y) : 0) << " m, " << seed;
        }
      }
    }
  }
  EXPECT_LE(of_flat_stems, 2);
}

TEST(StemLayers, LeavesAndFewPointsShowNone) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(-0.4, 0.4);
  std::vector<Vec3d> leaves;
  for (int i = 0; i < 20'000; ++i) leaves.push_back({place(random), place(random), 1.3 + 2 * place(random)});
  EXPECT_FALSE(layers_of(leaves, stem_at({0, 0}, 0.2)));
  EXPECT_FALSE(layers_of({}, stem_at({0, 0}, 0.2)));
  EXPECT_FALSE(layers_of(seen_by(four({0.06, 0}), {}, 0.002, 1, 2.5, 40), stem_at({0, 0}, 0.15)));
  EXPECT_FALSE(layers_of(std::vector<Vec3d>(5000, {0.15, 0, 1.3}), stem_at({0, 0}, 0.15)));  // one place
  EXPECT_FALSE(layers_of(leaves, Stem{}));
}

/// Standard deviation of the distances from the axis, about the radius there.
double thickness(const std::vector<Vec3d>& points, const StemShape& shape, const Vec2d& center) {
  double sum = 0;
  for (const Vec3d& p : points) {
    const double h = p.z - 1.3;
    const double r = std::hypot(p.x - center.x - shape.lean.x * h, p.y - center.y - shape.lean.y * h) -
                     shape.radius + shape.taper * h;
    sum += r * r;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

TEST(JoinLayers, TheyLieOnOneStemAllTheWayUp) {
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  for (const Vec2d& by : {Vec2d{0.03, 0.01}, {-0.02, 0.08}, {0.14, 0}}) {
    const StemShape shape{0.2, 0.012, 0, 0, {0.08, 0.03}};
    const std::vector<Vec3d> before = seen_by(four(by), shape, 0.002, 5, 8, 3000);
    for (const double at : {0.0, 1.0}) {
      std::vector<Vec3d> points = before;
      ASSERT_TRUE(join_layers(points, stem_at({at * by.x, at * by.y}, 0.2, shape.lean), by, ctx));
      const Vec2d middle{by.x / 2, by.y / 2};
      EXPECT_GT(thickness(before, shape, middle), 0.3 * std::hypot(by.x, by.y));
      EXPECT_LT(thickness(points, shape, middle), 0.006) << by.x << " " << by.y;
    }
  }
}

TEST(JoinLayers, LeavesWhatFitsAsItIs) {
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  const std::vector<Vec3d> before = seen_by(four({0, 0}), {}, 0.003, 5);
  std::vector<Vec3d> points = before;
  EXPECT_FALSE(join_layers(points, stem_at({0, 0}, 0.15), {0.05, 0.02}, ctx));
  EXPECT_EQ(points, before);
  EXPECT_FALSE(join_layers(points, Stem{}, {0.05, 0}, ctx));
  std::vector<Vec3d> none;
  EXPECT_FALSE(join_layers(none, stem_at({0, 0}, 0.15), {0.05, 0}, ctx));
  std::vector<Vec3d> far{{0, 0, 1e300}, {0, 0, -1e300}, {1e300, 0, 1.3}};
  EXPECT_FALSE(join_layers(far, stem_at({0, 0}, 0.15), {0.05, 0}, ctx));
}

TEST(JoinLayers, LeavesAndTheCrownStay) {
  JobControl control;
  const OpContext ctx(control, Device::kCpu, 1);
  std::vector<Vec3d> points = seen_by(four({0.06, 0}), {}, 0.002, 5);
  const std::size_t n = points.size();
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(-1, 1);
  for (int i = 0; i < 5000; ++i) points.push_back({place(random), place(random), 5 + place(random)});
  for (int i = 0; i < 500; ++i)  // leaves 7 cm before the stem
    points.push_back({0.03 + 0.28 * std::cos(i), 0.28 * std::sin(i), 1.3 + 0.5 * place(random)});
  const std::vector<Vec3d> before = points;
  ASSERT_TRUE(join_layers(points, stem_at({0, 0}, 0.15), {0.06, 0}, ctx));
  EXPECT_TRUE(std::equal(before.begin() + static_cast<std::ptrdiff_t>(n), before.end(),
                         points.begin() + static_cast<std::ptrdiff_t>(n)));
}

TEST(TwoCirclesFitted, ToTheirPoints) {
  std::vector<Vec2d> points;
  for (int i = 0; i < 400; ++i) {
    const double angle = 0.7 * i;
    points.push_back(
        {1 + 0.2 * std::cos(angle) + (i % 2) * 0.06, 2 + 0.2 * std::sin(angle) - (i % 2) * 0.03});
  }
  TwoCircles free{{1.03, 1.98}, 0.205, {0.05, -0.02}};
  EXPECT_LT(fit_two_circles({points.data(), points.size()}, 1000, 60, TwoCirclesFit::kFree, free), 1e-6);
  EXPECT_NEAR(free.radius_m, 0.2, 1e-5);
  EXPECT_NEAR(free.middle.x, 1.03, 1e-5);
  EXPECT_NEAR(free.middle.y, 1.985, 1e-5);
  EXPECT_LT(off(free.apart, {0.06, -0.03}), 1e-5);
  TwoCircles fixed{{1.02, 1.98}, 0.21, {0.06, -0.03}};
  EXPECT_LT(fit_two_circles({points.data(), points.size()}, 100, 60, TwoCirclesFit::kFixed, fixed), 1e-6);
  EXPECT_NEAR(fixed.radius_m, 0.2, 1e-5);
  TwoCircles one = free;
  EXPECT_GT(fit_two_circles({points.data(), points.size()}, 1000, 60, TwoCirclesFit::kOne, one), 0.1);
  EXPECT_EQ(one.apart.x, 0);
  TwoCircles none = free;
  EXPECT_EQ(fit_two_circles({}, 1000, 60, TwoCirclesFit::kFree, none), 0);
}

TEST(StemLayers, AreCanceledInTime) {
  std::vector<Vec3d> points = seen_by(four({0.06, 0}), {}, 0.002, 5, 2.5, 200'000);
  const Stem stem = stem_at({0, 0}, 0.15);
  EXPECT_LT(test::least_cancel_latency(
                [&](OpContext& ctx) {
                  ctx.begin_phase("Layers", 0);
                  for (;;) {
                    stem_layers({points.data(), points.size()}, stem, ctx);
                    join_layers(points, stem, {0.06, 0}, ctx);
                  }
                },
                {"Layers", 0, std::chrono::milliseconds(50), 1}),
            test::kCancelSeconds);
}

}  // namespace

#include "ops/trees/circle_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "core/error.h"

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

CircleFitParams params_of(CircleSearch search = CircleSearch::kRansac, std::uint64_t seed = 0) {
  return {search, 0.02, 0.02, 1.5, 8, seed, 0};
}

/// A stem section: an ellipse of equal girth with bark that is correlated along 3 cm, and clutter around it.
struct Section {
  double radius = 0.15, arc_deg = 360, noise = 0, bark = 0, ellipticity = 0;
  Vec2d center{0, 0};
  std::size_t count = 600, clutter = 0;
  std::uint64_t seed = 1;

  std::vector<Vec2d> points() const {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> unit;
    const double turn = 2 * kPi * unit(random), first = 2 * kPi * unit(random);
    const auto bumps = static_cast<std::size_t>(std::max(3.0, std::round(2 * kPi * radius / 0.03)));
    std::vector<double> height(bumps);
    for (double& h : height) h = bark * normal(random);
    std::vector<Vec2d> out;
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = first + arc_deg / 180 * kPi * unit(random);
      const double at = angle / (2 * kPi) * static_cast<double>(bumps);
      const auto low = static_cast<std::size_t>(std::floor(at)) % bumps;
      const double part = at - std::floor(at);
      const double bump = height[low] * (1 - part) + height[(low + 1) % bumps] * part;
      const double r =
          radius * (1 + ellipticity / 2 * std::cos(2 * (angle - turn))) + bump + noise * normal(random);
      out.push_back({center.x + r * std::cos(angle), center.y + r * std::sin(angle)});
    }
    for (std::size_t i = 0; i < clutter; ++i) {
      out.push_back({center.x + 2 * unit(random) - 1, center.y + 2 * unit(random) - 1});
    }
    std::shuffle(out.begin(), out.end(), random);
    return out;
  }
};

std::optional<FittedCircle> fit(const std::vector<Vec2d>& points, const CircleFitParams& params) {
  return fit_circle({points.data(), points.size()}, params);
}

TEST(CircleFit, ExactPointsGiveTheirCircleWhereverTheyLie) {
  for (const Vec2d center : {Vec2d{0, 0}, Vec2d{5e6, -4e6}}) {
    Section section;
    section.center = center;
    const auto found = fit(section.points(), params_of());
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->radius, 0.15, 2e-9);  // coordinates of 5e6 m have steps of 1e-9
    EXPECT_NEAR(found->center.x, center.x, 2e-9);
    EXPECT_NEAR(found->center.y, center.y, 2e-9);
    EXPECT_EQ(found->inlier_count, 600u);
    EXPECT_EQ(found->arc_coverage, 1);
    EXPECT_LT(found->rms_m, 1e-8);
    EXPECT_LT(found->max_gap_deg, 10);
  }
}

/// The algebraic fit minimizes sum (A z + B x + C y + D)^2 under the constraint that Taubin gives; the smallest
/// eigenvalue of his pencil, found by bisection of its determinant, must give the same circle.
TEST(CircleFit, TaubinsCircleMinimizesHisRatio) {
  Section section;
  section.noise = 0.02;
  section.arc_deg = 100;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    section.seed = seed;
    const auto points = section.points();
    const auto found = taubin_circle({points.data(), points.size()});
    ASSERT_TRUE(found.has_value());
    const auto ratio = [&](double x, double y, double r) {
      double above = 0, below = 0;
      for (const Vec2d& p : points) {
        const double dx = p.x - x, dy = p.y - y, d = dx * dx + dy * dy;
        above += (d - r * r) * (d - r * r);
        below += d;
      }
      return above / below;
    };
    const double best = ratio(found->center.x, found->center.y, found->radius);
    for (const double step : {1e-3, -1e-3}) {
      EXPECT_LT(best, ratio(found->center.x + step, found->center.y, found->radius));
      EXPECT_LT(best, ratio(found->center.x, found->center.y + step, found->radius));
      EXPECT_LT(best, ratio(found->center.x, found->center.y, found->radius + step));
    }
  }
}

TEST(CircleFit, TheGeometricFitMinimizesTheDistances) {
  Section section;
  section.noise = 0.01;
  section.arc_deg = 120;
  const auto points = section.points();
  const auto found = geometric_circle({points.data(), points.size()}, {{0.03, -0.02}, 0.12});
  ASSERT_TRUE(found.has_value());
  const auto squares = [&](double x, double y, double r) {
    double sum = 0;
    for (const Vec2d& p : points) sum += std::pow(std::hypot(p.x - x, p.y - y) - r, 2);
    return sum;
  };
  const double best = squares(found->center.x, found->center.y, found->radius);
  for (const double step : {1e-5, -1e-5}) {
    EXPECT_LT(best, squares(found->center.x + step, found->center.y, found->radius));
    EXPECT_LT(best, squares(found->center.x, found->center.y + step, found->radius));
    EXPECT_LT(best, squares(found->center.x, found->center.y, found->radius + step));
  }
}

TEST(CircleFit, HalfOfThePointsMayBeClutter) {
  for (const CircleSearch search : {CircleSearch::kRansac, CircleSearch::kHough}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Section section;
      section.noise = 0.003;
      section.clutter = 600;
      section.seed = seed;
      const auto found = fit(section.points(), params_of(search, seed));
      ASSERT_TRUE(found.has_value());
      EXPECT_NEAR(found->radius, 0.15, 0.005) << seed;
      EXPECT_NEAR(std::hypot(found->center.x, found->center.y), 0, 0.005) << seed;
      const auto again = fit(section.points(), params_of(search, seed));
      EXPECT_EQ(found->radius, again->radius);
    }
  }
}

TEST(CircleFit, AnArcIsMeasuredAndItsCoverageSaid) {
  Section section;
  section.radius = 0.25;
  section.arc_deg = 120;
  section.noise = 0.01;
  section.count = 2000;
  const auto found = fit(section.points(), params_of());
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(2 * found->radius, 0.5, 0.02);
  EXPECT_NEAR(found->arc_coverage, 1.0 / 3, 0.06);
  EXPECT_NEAR(found->max_gap_deg, 240, 10);
}

TEST(CircleFit, NothingWhereThereIsNoCircle) {
  std::vector<Vec2d> line, same(50, Vec2d{3, 4}), few{{0, 0}, {1, 0}, {0, 1}};
  for (int i = 0; i < 100; ++i) line.push_back({0.01 * i, 0});
  EXPECT_FALSE(fit(line, params_of()).has_value());
  EXPECT_FALSE(fit(same, params_of()).has_value());
  EXPECT_FALSE(fit(few, params_of()).has_value());
  EXPECT_FALSE(fit({}, params_of()).has_value());
  Section large;
  large.radius = 2;
  EXPECT_FALSE(fit(large.points(), params_of()).has_value());
  CircleFitParams wrong = params_of();
  wrong.min_radius_m = 2;
  EXPECT_THROW(fit(line, wrong), Error);
}

/// The interval of two standard errors contains the truth in about 95 % of sections with bark, for each arc.
TEST(CircleFit, TheStandardErrorCoversTheTruth) {
  for (const double arc : {360.0, 180.0, 120.0}) {
    int covered = 0;
    constexpr int kRuns = 400;
    for (int run = 0; run < kRuns; ++run) {
      Section section;
      section.radius = 0.2;
      section.arc_deg = arc;
      section.bark = 0.004;
      section.noise = 0.002;
      section.ellipticity = 0.05 * ((run % 2) * 2 - 1);
      section.seed = static_cast<std::uint64_t>(run + 1);
      CircleFitParams params = params_of();
      params.ellipticity_square = 0.05 * 0.05;
      const auto found = fit(section.points(), params);
      ASSERT_TRUE(found.has_value());
      covered += std::abs(found->radius - 0.2) < 2 * found->radius_sigma ? 1 : 0;
    }
    EXPECT_GT(covered, 0.90 * kRuns) << arc;
    EXPECT_LT(covered, 0.99 * kRuns) << arc;
  }
}

/// Five stems that stand on a circle of 1 m, each seen from its inner side, and shrubs between them.
std::vector<Vec2d> group_of_stems() {
  std::vector<Vec2d> out;
  for (int k = 0; k < 5; ++k) {
    const double turn = 2 * kPi * k / 5;
    const Section one{.radius = 0.1,
                      .arc_deg = 120,
                      .center = {std::cos(turn), std::sin(turn)},
                      .count = 40,
                      .seed = 7 + static_cast<std::uint64_t>(k)};
    const auto points = one.points();
    out.insert(out.end(), points.begin(), points.end());
  }
  const Section shrubs{.count = 0, .clutter = 150};
  const auto points = shrubs.points();
  out.insert(out.end(), points.begin(), points.end());
  return out;
}

TEST(CircleFit, AStemIsSolid) {
  const std::vector<Vec2d> points = group_of_stems();
  std::size_t wide = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CircleFitParams params = params_of(CircleSearch::kRansac, seed);
    wide += fit(points, params).value().radius > 0.5 ? 1 : 0;
    params.solid = true;
    const auto found = fit(points, params);
    ASSERT_TRUE(found) << seed;
    EXPECT_NEAR(found->radius, 0.1, 0.02) << seed;
    params.search = CircleSearch::kHough;
    const auto voted = fit(points, params);
    EXPECT_LT(voted ? voted->radius : 0, 0.2) << seed;
  }
  EXPECT_GT(wide, 0U);
}

TEST(CircleFit, PointsWithinACircleMakeItHollow) {
  const auto points = Section{.radius = 0.3, .count = 100}.points();
  std::vector<Vec2d> filled = points;
  const PlainCircle circle{{0, 0}, 0.3};
  for (int i = 0; i < 50; ++i) filled.push_back({0.02 * (i % 10) - 0.09, 0.02 * (i / 10) - 0.04});
  EXPECT_FALSE(is_hollow({filled.data(), filled.size()}, circle, 0.02));
  filled.push_back({0, 0});
  EXPECT_TRUE(is_hollow({filled.data(), filled.size()}, circle, 0.02));
  // Within a stem of 4 cm no point is told from the surface.
  const PlainCircle thin{{0, 0}, 0.04};
  EXPECT_FALSE(is_hollow({filled.data(), filled.size()}, thin, 0.02));
}

TEST(CircleFit, TwoStemsAreNoCircle) {
  // Seen from outside: the outer arcs of both lie near one circle of .77 m.
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> turn(-35 * kPi / 180, 35 * kPi / 180);
  std::vector<Vec2d> points;
  for (int i = 0; i < 400; ++i) {
    const double side = i % 2 == 0 ? 1 : -1, angle = turn(random);
    points.push_back({side * (0.65 + 0.12 * std::cos(angle)), 0.12 * std::sin(angle)});
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CircleFitParams params = params_of(CircleSearch::kRansac, seed);
    EXPECT_GT(fit(points, params).value().radius, 0.5) << seed;
    params.solid = true;
    const auto found = fit(points, params);
    ASSERT_TRUE(found) << seed;
    EXPECT_NEAR(found->radius, 0.12, 0.02) << seed;
  }
}

TEST(CircleFit, PatchesAreToldFromFewPoints) {
  EXPECT_TRUE(is_patchy({4. / 36, 192}, 387));  // two stems on one circle, seen in a generated stand
  EXPECT_TRUE(is_patchy({6. / 36, 158}, 359));
  EXPECT_FALSE(is_patchy({12. / 36, 120}, 500));  // two scanners that face each other see 60 degrees each
  EXPECT_FALSE(is_patchy({9. / 36, 200}, 9));     // nine points
  EXPECT_FALSE(is_patchy({10. / 36, 90}, 12));
  EXPECT_FALSE(is_patchy({1, 10}, 600));
}

}  // namespace

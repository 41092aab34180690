#include "ops/trees/plot_boundary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "core/error.h"
#include "ops/trees/tree_failure.h"

namespace {

using namespace pc;

/// Points of a plot in the making.
struct Field {
  std::vector<Vec2d> points;

  void add(double x0, double y0, double x1, double y1, double step) {
    for (double x = x0; x <= x1; x += step) {
      for (double y = y0; y <= y1; y += step) points.push_back({x, y});
    }
  }
  PlotBoundary boundary(PlotEvidence evidence) const {
    JobControl control;
    const OpContext ctx(control, Device::kCpu, 1);
    SeenCells seen;
    for (const Vec2d& p : points) seen.add(p, ctx);
    evidence.all = convex_hull({points.data(), points.size()});
    return plot_boundary(evidence, seen, ctx);
  }
};

ConvexPolygon square(double x0, double y0, double x1, double y1) {
  return {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
}

TEST(PlotBoundary, GroundUnderTheTreesIsThePlot) {
  Field field;
  field.add(0, 0, 40, 40, 0.5);
  const PlotBoundary found = field.boundary(
      {square(0, 0, 40, 40), {}, {{5, 5}, {20, 20}, {39, 20}}, {square(3, 3, 8, 8), square(39, 18, 43, 22)}});
  EXPECT_EQ(found.source, PlotSource::kGroundClass);
  EXPECT_FALSE(found.ground_refused);
  EXPECT_EQ(found.area_m2, 1600);
  EXPECT_NEAR(found.ground_share, (25.0 + 4) / (25 + 16), 1e-12);
  EXPECT_GT(found.seen_share, 0.95);
}

TEST(PlotBoundary, APatchOfGroundBesideTheTreesIsNot) {
  Field field;
  field.add(0, 0, 20, 20, 0.5);
  const ConvexPolygon patch = square(0, 0, 9, 9);
  const PlotBoundary found =
      field.boundary({patch, {}, {{5, 5}, {15, 15}, {12, 5}}, {square(3, 3, 8, 8), square(9, 9, 20, 20)}});
  EXPECT_EQ(found.source, PlotSource::kAllPoints);
  EXPECT_TRUE(found.ground_refused);
  EXPECT_EQ(found.area_m2, 400);
  EXPECT_NEAR(found.ground_share, 25.0 / (25 + 121), 1e-12);
}

TEST(PlotBoundary, AHullThroughTheFeetOfTheOuterTreesIsNot) {
  Field field;
  field.add(-2, -2, 14, 14, 0.5);
  PlotEvidence evidence{square(0, 0, 12, 12), {}, {}, {}};
  for (int i = 0; i < 16; ++i) evidence.bases.push_back({4.0 * (i % 4), 4.0 * (i / 4)});
  evidence.bases[0].x = evidence.bases[7].y = -0.1;  // two of sixteen just outside
  EXPECT_EQ(field.boundary(evidence).source, PlotSource::kAllPoints);
  EXPECT_EQ(field.boundary(evidence).area_m2, 256);
}

TEST(PlotBoundary, AnEmptyHullIsNoPlot) {
  Field field;
  field.add(0, 0, 10, 10, 0.5);
  field.add(90, 90, 100, 100, 0.5);
  field.add(90, 0, 100, 10, 0.5);
  const PlotBoundary found = field.boundary({{}, {}, {{5, 5}}, {}});
  EXPECT_EQ(found.source, PlotSource::kNone);
  EXPECT_TRUE(found.polygon.empty());
  EXPECT_LT(found.seen_share, 0.35);
  // One stray far away does not make a plot of 1e7 m either.
  field.points.push_back({1e7, 3e6});
  EXPECT_EQ(field.boundary({{}, {}, {{5, 5}}, {}}).source, PlotSource::kNone);
  // Ground in three far corners is not refused, but its hull is as empty.
  const PlotBoundary corners = field.boundary({square(0, 0, 100, 100), {}, {{5, 5}}, {}});
  EXPECT_EQ(corners.source, PlotSource::kNone);
  EXPECT_FALSE(corners.ground_refused);
  EXPECT_EQ(Field{}.boundary({{}, {}, {}, {}}).source, PlotSource::kNone);
}

TEST(PlotBoundary, TheShareSeenIsThatOfAnLShape) {
  Field field;
  field.add(0, 0, 100, 30, 0.5);
  field.add(0, 30, 30, 100, 0.5);
  const PlotBoundary found = field.boundary({{}, {}, {{5, 5}}, {}});
  const double exact = (100 * 30 + 70 * 30) / (100 * 100 - 70 * 70 / 2.0);
  EXPECT_NEAR(found.seen_share, exact, 0.05);
  // Sparse points, 2 m apart, have cells of 5 m: up to a strip of that width more.
  Field sparse;
  sparse.add(0, 0, 100, 30, 2);
  sparse.add(0, 30, 30, 100, 2);
  EXPECT_NEAR(sparse.boundary({{}, {}, {{5, 5}}, {}}).seen_share, exact, 5 * 140 / 7550.0);
}

TEST(PlotBoundary, GapsAsWideAsBetweenTreesAreSeen) {
  Field field;  // crowns of 1 m, 4 m apart, without ground
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) field.add(4 * i, 4 * j, 4 * i + 1, 4 * j + 1, 0.2);
  }
  EXPECT_GT(field.boundary({{}, {}, {{1, 1}}, {}}).seen_share, 0.95);
}

TEST(PlotBoundary, DoesNotDependOnTheOrderAndIsSafeFarAway) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit;
  Field field;
  for (int i = 0; i < 300'000; ++i)
    field.points.push_back({5e6 + 3000 * unit(random), 4e6 + 900 * unit(random)});
  const PlotBoundary one = field.boundary({{}, {}, {}, {}});
  std::shuffle(field.points.begin(), field.points.end(), random);
  const PlotBoundary other = field.boundary({{}, {}, {}, {}});
  EXPECT_EQ(one.seen_share, other.seen_share);
  EXPECT_GT(one.seen_share, 0.97);
  for (const double huge : {1e300, -1e300, std::nan(""), HUGE_VAL}) field.points.push_back({huge, 0});
  EXPECT_EQ(field.boundary({square(5e6, 4e6, 5'003'000, 4'000'900), {}, {}, {}}).source,
            PlotSource::kGroundClass);
}

TEST(TreeFailure, AnyExceptionOfOneTreeIsItsReason) {
  EXPECT_EQ(reason_of_failure([] {}), "");
  EXPECT_EQ(reason_of_failure([] { throw Error(ErrorCode::kInvalidArgument, "too thin"); }), "too thin");
  EXPECT_EQ(reason_of_failure([] { throw std::bad_alloc(); }), "its points do not fit in the free memory");
  EXPECT_EQ(reason_of_failure([] { throw std::length_error("vector"); }),
            "it could not be measured (vector)");
  EXPECT_EQ(reason_of_failure([] { throw 7; }), "it could not be measured");
  EXPECT_THROW(reason_of_failure([] { throw Error(ErrorCode::kCanceled, "stop"); }), Error);
}

}  // namespace

#include "ops/trees/circle_evidence.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <numbers>
#include <random>
#include <vector>

namespace {

using namespace pc;
constexpr double kPi = std::numbers::pi;

double choose(int n, int k) {
  double out = 1;
  for (int i = 1; i <= k; ++i) out *= static_cast<double>(n - k + i) / i;
  return out;
}

TEST(FalseAlarms, AreThoseOfTheBinomialTail) {
  EXPECT_DOUBLE_EQ(log_false_alarms(3, 3, 0.1), 0);
  EXPECT_NEAR(log_false_alarms(10, 10, 0.1), std::log10(120e-7), 1e-9);
  for (const int n : {5, 12, 40, 90}) {
    for (int k = 4; k <= n; ++k) {
      for (const double p : {0.05, 0.3, 0.7}) {
        double tail = 0;
        for (int j = k - 3; j <= n - 3; ++j)
          tail += choose(n - 3, j) * std::pow(p, j) * std::pow(1 - p, n - 3 - j);
        const double expected = std::log10(choose(n, 3) * tail);
        // Where every other circle has as many, the tail counts as 1.
        const double room = k - 3 <= (n - 3) * p ? 0.35 : 1e-9;
        ASSERT_NEAR(log_false_alarms(n, k, p), expected, room) << n << " " << k << " " << p;
      }
    }
  }
  EXPECT_EQ(log_false_alarms(2, 2, 0.1), HUGE_VAL);
  EXPECT_EQ(log_false_alarms(20, 9, 0), -HUGE_VAL);
  EXPECT_NEAR(log_false_alarms(20, 9, 1), std::log10(1140), 1e-9);
  EXPECT_LT(log_false_alarms(2'000'000, 1'900'000, 0.2), -1e6);
}

TEST(FalseAlarms, ScatteredPointsHaveThem) {
  // Of 2,000 clouds of 12 points the fullest of all circles through three: as likely as the number says.
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(-1, 1);
  constexpr int kPoints = 12, kClouds = 2000, kWanted = 7;
  constexpr double kRadius = 0.6, kDistance = 0.05;
  double found = 0;
  const double part = 4 * kRadius * kDistance;  // of the unit disc
  for (int cloud = 0; cloud < kClouds; ++cloud) {
    int on = 0;
    for (int i = 0; i < kPoints - 3;) {
      const double x = unit(random), y = unit(random), r = std::hypot(x, y);
      if (r > 1) continue;
      on += std::abs(r - kRadius) <= kDistance ? 1 : 0;
      ++i;
    }
    found += on >= kWanted - 3 ? choose(kPoints, 3) / kClouds : 0;
  }
  EXPECT_NEAR(log_false_alarms(kPoints, kWanted, part), std::log10(found), 0.15);
}

CircleEvidence evidence_of(const std::vector<Vec3d>& points, double radius) {
  return circle_evidence({points.data(), points.size()}, {3, -2}, radius, 0.02, 1.5 * radius + 0.1);
}

std::vector<Vec3d> arc(double from_deg, double to_deg, double radius, int count) {
  std::vector<Vec3d> out;
  for (int i = 0; i < count; ++i) {
    const double a = (from_deg + (to_deg - from_deg) * (i + 0.5) / count) * kPi / 180;
    out.push_back({3 + radius * std::cos(a), -2 + radius * std::sin(a), 0.01 * i});
  }
  return out;
}

TEST(CircleEvidence, WholeCirclesHalvesAndColumns) {
  const CircleEvidence whole = evidence_of(arc(0, 360, 0.2, 720), 0.2);
  EXPECT_EQ(whole.share, 1);
  EXPECT_EQ(whole.firm_deg, 360);
  EXPECT_NEAR(whole.one_sided, 0, 1e-9);
  EXPECT_LT(whole.chance, -100);
  const CircleEvidence half = evidence_of(arc(0, 180, 0.2, 360), 0.2);
  EXPECT_EQ(half.firm_deg, 180);
  EXPECT_NEAR(half.one_sided, 2 / kPi, 1e-4);
  EXPECT_NEAR(half.two_sided, 0, 1e-9);
  std::vector<Vec3d> columns = arc(4, 6, 0.2, 20);
  for (const Vec3d& p : arc(184, 186, 0.2, 20)) columns.push_back(p);
  columns.push_back({3, -2, 0});  // beside the circle
  const CircleEvidence opposite = evidence_of(columns, 0.2);
  EXPECT_NEAR(opposite.share, 40.0 / 41, 1e-12);
  EXPECT_NEAR(opposite.one_sided, 0, 1e-9);
  EXPECT_GT(opposite.two_sided, 0.99);
  EXPECT_EQ(opposite.firm_deg, 190);
}

TEST(CircleEvidence, TwoGroupsHaveAGapBetweenThem) {
  const auto columns = [](std::initializer_list<double> bearings, double wide) {
    std::vector<Vec3d> points;
    for (const double at : bearings)
      for (const Vec3d& p : arc(at, at + wide, 0.1, 30)) points.push_back(p);
    return evidence_of(points, 0.1);
  };
  EXPECT_EQ(columns({0, 100}, 10).inner_gap_deg, 90);
  EXPECT_EQ(columns({0, 100}, 10).firm_deg, 110);
  EXPECT_EQ(columns({0, 30, 100}, 10).inner_gap_deg, 60) << "20 degrees apart: one group";
  EXPECT_EQ(columns({0, 50, 100}, 10).inner_gap_deg, 0) << "three";
  EXPECT_EQ(columns({0, 140}, 60).inner_gap_deg, 0) << "two wide strips are no columns";
  EXPECT_EQ(columns({0}, 60).inner_gap_deg, 0);
}

TEST(CircleEvidence, SectorsWithFewPointsAreNotFirm) {
  std::vector<Vec3d> points = arc(0, 20, 0.5, 60);
  for (const Vec3d& p : arc(20, 200, 0.5, 60)) points.push_back(p);  // leaves: 3 to 4 in each sector
  EXPECT_EQ(evidence_of(points, 0.5).firm_deg, 20);
  EXPECT_EQ(evidence_of({{3.5, -2, 0}}, 0.5).firm_deg, 0);
  const CircleEvidence none = evidence_of({}, 0.5);
  EXPECT_EQ(none.share, 0);
  EXPECT_EQ(none.chance, HUGE_VAL);
}

}  // namespace

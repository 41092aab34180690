#include "ops/mesh/scan_mesh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/mesh/place_merge.h"
#include "support/cancel.h"

namespace pc {
namespace {

using Points = std::vector<Vec3d>;
using Indices = std::vector<std::uint32_t>;

struct Scan {
  Points points;
  Indices indices;
  bool is_multi_return = false;
  Vec3d origin{0, 0, 0};
};

ScanMesh mesh_of(const std::vector<Scan>& scans, const ScanMeshParams& params, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  std::vector<ScanTriangles> views;
  for (const Scan& s : scans)
    views.push_back({{s.points.data(), s.points.size()},
                     {s.indices.data(), s.indices.size()},
                     s.origin,
                     s.is_multi_return});
  return scan_mesh(views, params, ctx);
}

constexpr ScanMeshParams kAll{1e9, 1e9};

/// One triangle with a right angle and sides a, b at x.
void add(Scan& scan, double a, double b, double x = 0) {
  const auto first = static_cast<std::uint32_t>(scan.points.size());
  for (const Vec3d& p : {Vec3d{x, 0, 10}, Vec3d{x + a, 0, 10}, Vec3d{x, b, 10}}) scan.points.push_back(p);
  for (std::uint32_t k = 0; k < 3; ++k) scan.indices.push_back(first + k);
}

TEST(ScanMesh, EveryCandidateHasOneReason) {
  Scan scan;
  add(scan, 3, 4, 0);        // longest 5
  add(scan, 0.3, 4, 100);    // longest 4.01, aspect 13.4
  add(scan, 0.3, 0.4, 200);  // kept
  add(scan, 1, 4e-6, 300);   // two corners at one place, and a large aspect
  scan.points.push_back({400, 0, 10});
  scan.points.push_back({400.5, 0, 10});
  scan.points.push_back({401, 0, 10});
  for (std::uint32_t k = 12; k < 15; ++k) scan.indices.push_back(k);  // a line
  const auto drops = [&](double lmax, double aspect) {
    const TriangleDrops d = mesh_of({scan}, {lmax, aspect}).drops;
    EXPECT_EQ(d.candidates, d.kept + d.lmax + d.aspect + d.degenerate + d.separation);
    return std::vector<std::uint64_t>{d.candidates, d.kept, d.lmax, d.aspect, d.degenerate, d.separation};
  };
  EXPECT_EQ(drops(1e9, 1e9), (std::vector<std::uint64_t>{5, 3, 0, 0, 2, 0}));
  EXPECT_EQ(drops(5, 1e9), (std::vector<std::uint64_t>{5, 3, 0, 0, 2, 0}));  // the limit belongs to it
  EXPECT_EQ(drops(4.9, 4), (std::vector<std::uint64_t>{5, 1, 1, 2, 1, 0}));
  EXPECT_EQ(drops(0.1, 4), (std::vector<std::uint64_t>{5, 0, 5, 0, 0, 0}));
  EXPECT_EQ(drops(4.9, 1.67), (std::vector<std::uint64_t>{5, 1, 1, 3, 0, 0}));
}

TEST(ScanMesh, PointsOfOnePlaceAreOneVertexAcrossScans) {
  Scan first, second;
  add(first, 1, 1);
  add(second, 1, 1);
  second.points[1].x += 4e-6;                                    // the same place
  second.points[2].y += 6e-6;                                    // another
  second.points.insert(second.points.begin(), Vec3d{0, 0, 10});  // no triangle has it
  for (std::uint32_t& corner : second.indices) ++corner;
  const ScanMesh mesh = mesh_of({first, Scan{}, second}, kAll);
  ASSERT_EQ(mesh.vertices.size(), 4U);
  EXPECT_EQ(mesh.vertices[1], first.points[1]);  // the first one stands for the place
  EXPECT_EQ(Indices(mesh.indices.view().begin(), mesh.indices.view().end()), (Indices{0, 1, 2, 0, 1, 3}));
  EXPECT_EQ(Indices(mesh.scan_ids.view().begin(), mesh.scan_ids.view().end()), (Indices{0, 2}));
}

TEST(ScanMesh, SeparationFilterDropsWhatBridgesToTheBackground) {
  Scan scan;  // a wall at 10 m seen straight on: length over angle is 10 m
  for (int i = 0; i < 40; ++i) add(scan, 0.01, 0.01, 0.02 * i);
  const auto first = static_cast<std::uint32_t>(scan.points.size());
  scan.points.insert(scan.points.end(), {Vec3d{-0.05, 0, 5}, Vec3d{-0.05, 0.01, 5}, Vec3d{-0.12, 0, 10}});
  for (std::uint32_t k = 0; k < 3; ++k) scan.indices.push_back(first + k);  // 5 m deep within .002 rad
  EXPECT_EQ(mesh_of({scan}, kAll).drops.separation, 0U);
  scan.is_multi_return = true;
  const ScanMesh mesh = mesh_of({scan}, kAll);
  EXPECT_EQ(mesh.drops.separation, 1U);
  EXPECT_EQ(mesh.drops.kept, 40U);
  EXPECT_EQ(mesh_of({scan}, {1, 1e9}).drops.lmax, 1U);  // the length is asked first
}

TEST(ScanMesh, EstimateSeparatesTwoModes) {
  Scan scan;
  for (int i = 0; i < 300; ++i) add(scan, 0.01 * (1 + 0.1 * random_unit(1, i)), 0.01, i);
  for (int i = 0; i < 200; ++i) add(scan, 1 + 0.1 * random_unit(2, i), 1, 1000 + 3 * i);
  for (int i = 0; i < 50; ++i) add(scan, 2e-5, 2e-5, 3000 + i);  // below 1 % of the median: left out
  const EdgeSplit split = mesh_of({scan}, kAll).split;
  ASSERT_TRUE(split.lmax_m.has_value());
  EXPECT_GT(*split.lmax_m, 0.0148);
  EXPECT_LT(*split.lmax_m, 1.41);
  EXPECT_GT(split.separability, 0.99);
  EXPECT_NEAR(*split.median_ratio, 100, 3);
  EXPECT_TRUE(split.mixed);  // median / 5th percentile of this scan is far above 10
  EXPECT_GT(mesh_of({scan}, {*split.lmax_m, 1e9}).drops.kept, 0U);
}

TEST(ScanMesh, EstimateOfFewAndEqualEdges) {
  Scan few, equal;
  for (int i = 0; i < 15; ++i) add(few, 1, 1, 2 * i);
  for (int i = 0; i < 16; ++i) add(equal, 1, 1, 2 * i);
  EXPECT_FALSE(mesh_of({few}, kAll).split.lmax_m.has_value());
  const EdgeSplit split = mesh_of({equal}, kAll).split;
  EXPECT_DOUBLE_EQ(split.lmax_m.value(), std::sqrt(2.0));
  EXPECT_FALSE(split.median_ratio.has_value());
  EXPECT_FALSE(split.mixed);
  EXPECT_EQ(mesh_of({equal}, {*split.lmax_m, 4}).drops.kept, 16U);
}

TEST(ScanMesh, NothingAtAllAndWrongInput) {
  EXPECT_EQ(mesh_of({}, kAll).drops.candidates, 0U);
  EXPECT_EQ(mesh_of({Scan{}, Scan{}}, kAll).vertices.size(), 0U);
  Scan scan;
  add(scan, 1, 1);
  EXPECT_THROW(mesh_of({scan}, {0, 4}), Error);
  EXPECT_THROW(mesh_of({scan}, {std::nan(""), 4}), Error);
  EXPECT_THROW(mesh_of({scan}, {1, 0.5}), Error);
  scan.indices[2] = 3;
  EXPECT_THROW(mesh_of({scan}, kAll), Error);
}

TEST(ScanMesh, MergedPlacesAreThoseOfBruteForce) {
  Points points;
  for (std::uint64_t i = 0; i < 3000; ++i)
    points.push_back({1e7 + 2e-5 * double(random_u64(1, i) % 12) + 1e-6 * random_unit(2, i),
                      2e-5 * double(random_u64(3, i) % 12), -2e-5 * double(random_u64(4, i) % 3)});
  std::vector<std::uint8_t> used;
  for (std::uint64_t i = 0; i < points.size(); ++i) used.push_back(random_u64(5, i) % 5 != 0);
  for (const int threads : {1, 3}) {
    JobControl control;
    OpContext ctx(control, Device::kCpu, threads);
    const MergedPlaces merged = merge_places({points.data(), points.size()}, {used.data(), used.size()}, ctx);
    std::vector<Vec3d> places;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (used[i] == 0) continue;
      std::size_t k = 0;
      while (k < places.size() && !same_place(places[k], points[i])) ++k;
      if (k == places.size()) places.push_back(points[i]);
      ASSERT_EQ(merged.number[i], k);
    }
    ASSERT_EQ(merged.places.size(), places.size());
    for (std::size_t k = 0; k < places.size(); ++k) EXPECT_EQ(merged.places[k], places[k]);
  }
  EXPECT_TRUE(same_place({0.000004, 0, 0}, {-0.000004, -0.0, 0}));
  EXPECT_FALSE(same_place({0.000004, 0, 0}, {0.000006, 0, 0}));
}

TEST(ScanMesh, DoesNotDependOnThreadsAndIsCanceledInTime) {
  Scan scan;
  for (int i = 0; i < 300'000; ++i) add(scan, 0.01 + random_unit(1, i), 0.01 + random_unit(2, i), 1e-3 * i);
  scan.is_multi_return = true;
  const ScanMesh one = mesh_of({scan}, {0.9, 8}), three = mesh_of({scan}, {0.9, 8}, 3);
  EXPECT_EQ(one.split.lmax_m, three.split.lmax_m);
  EXPECT_EQ(one.split.separability, three.split.separability);
  ASSERT_EQ(one.indices.size(), three.indices.size());
  for (std::size_t i = 0; i < one.indices.size(); ++i) ASSERT_EQ(one.indices[i], three.indices[i]);
  const std::vector<ScanTriangles> views{{{scan.points.data(), scan.points.size()},
                                          {scan.indices.data(), scan.indices.size()},
                                          scan.origin,
                                          scan.is_multi_return}};
  test::expect_cancel_in_phase("Filtering triangles", [&](OpContext& ctx) {
    scan_mesh(views, {0.9, 8}, ctx);
  });
}

}  // namespace
}  // namespace pc

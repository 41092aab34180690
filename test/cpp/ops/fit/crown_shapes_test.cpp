#include "ops/fit/crown_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ops/fit/crown_trim.h"
#include "support/cancel.h"
#include "support/crown_samples.h"

namespace pc {
namespace {

using test::CrownSamples;

constexpr CrownShape kShapes[]{CrownShape::kEllipsoid, CrownShape::kPrism, CrownShape::kCone};

TreeRows rows_of(const std::vector<Vec3d>& points) {
  return {{points.data(), points.size()}, {}, nullptr, 0, 0, nullptr, nullptr, false};
}

CrownFit fit(const TreeRows& tree, CrownShape shape, double strictness, int threads = 2,
             const Vec3d& offset = {0, 0, 0}) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return fit_crown(tree, {shape, strictness, offset, std::nullopt, 0}, ctx);
}

CrownSolid truth_of(CrownShape shape) {
  return {shape, {10, 20, 8}, {2, shape == CrownShape::kCone ? 2.0 : 1.5, 3}};
}

TEST(CrownShapes, CleanSolidsKeepTheirVolumeAndStraysDoNotChangeIt) {
  for (const CrownShape shape : kShapes) {
    const CrownSolid truth = truth_of(shape);
    for (const bool on_surface : {true, false}) {
      CrownSamples draw(11);
      const std::vector<Vec3d> clean = on_surface ? draw.surface(truth, 6000) : draw.filled(truth, 6000);
      std::vector<Vec3d> stray = clean;
      draw.add_branches(stray, truth, 12, 25);
      EXPECT_GT(crown_volume(fit(rows_of(stray), shape, 0).crown->solid), 1.5 * crown_volume(truth));
      for (const double strictness : {0.0, 0.2, 0.5}) {
        const double volume = fit(rows_of(clean), shape, strictness).crown->volume_m3;
        EXPECT_NEAR(volume / crown_volume(truth), 1, 0.01) << "strictness " << strictness;
        if (strictness == 0) continue;
        const double moved = fit(rows_of(stray), shape, strictness).crown->volume_m3;
        EXPECT_NEAR(moved / volume, 1, 0.02) << "strictness " << strictness;
      }
    }
  }
}

TEST(CrownShapes, StrictnessLimitsTheShareLeftOutside) {
  EXPECT_EQ(droppable_points(20, 1), 0U);
  EXPECT_EQ(droppable_points(24, 1), 4U);
  EXPECT_EQ(droppable_points(1000, 0.2), 50U);
  EXPECT_EQ(droppable_points(1000, 1), 250U);
  for (const CrownShape shape : kShapes) {
    CrownSamples draw(3);
    std::vector<Vec3d> points;  // ever thinner outwards: there is always something to gain
    for (int i = 0; i < 4000; ++i) {
      const Vec3d p = draw.in_box({1, 1, 1});
      points.push_back({std::pow(p.x, 9) * 10, std::pow(p.y, 9) * 10, std::pow(p.z, 9) * 10});
    }
    double previous = HUGE_VAL;
    for (const double strictness : {0.0, 0.1, 0.3, 0.6, 1.0}) {
      const auto found = fit(rows_of(points), shape, strictness);
      const CrownSolid& solid = found.crown->solid;
      const auto inside = std::count_if(points.begin(), points.end(),
                                        [&](const Vec3d& p) { return crown_gauge(solid, p) <= 1 + 1e-9; });
      EXPECT_EQ(found.crown->enclosed_count, static_cast<std::uint64_t>(inside));
      EXPECT_GE(found.crown->enclosed_count, 4000 - droppable_points(4000, strictness));
      EXPECT_LT(found.crown->volume_m3, previous);
      previous = found.crown->volume_m3;
    }
  }
}

/// Neither the frame nor the number of threads matters.
TEST(CrownShapes, MovesWithThePointsAndDoesNotDependOnThreads) {
  const Vec3d far{1e7, -1e7, 500};
  for (const CrownShape shape : kShapes) {
    CrownSamples draw(6);
    std::vector<Vec3d> points = draw.filled(truth_of(shape), 9000);
    draw.add_branches(points, truth_of(shape), 12, 30);
    for (Vec3d& p : points)
      p = {std::round(p.x * 1024) / 1024, std::round(p.y * 1024) / 1024, std::round(p.z * 1024) / 1024};
    std::vector<Vec3d> moved = points;
    for (Vec3d& p : moved) p = p + far;
    const auto here = fit(rows_of(points), shape, 0.3, 1), there = fit(rows_of(moved), shape, 0.3, 4);
    EXPECT_EQ(here.crown->solid.half, there.crown->solid.half);
    EXPECT_EQ(here.crown->volume_m3, there.crown->volume_m3);
    EXPECT_EQ(here.crown->enclosed_count, there.crown->enclosed_count);
    EXPECT_NEAR(here.crown->solid.center.x + far.x, there.crown->solid.center.x, 1e-8);
    EXPECT_NEAR(here.crown->highest_z + far.z, there.crown->highest_z, 1e-9);
    const auto offset = fit(rows_of(points), shape, 0.3, 2, far);
    EXPECT_EQ(offset.crown->solid.half, here.crown->solid.half);
    EXPECT_NEAR(offset.crown->mesh.vertices[0].y, here.crown->mesh.vertices[0].y + far.y, 1e-8);
  }
}

/// Ever thinner outwards: the volume hardly has a best share to leave outside.
TEST(CrownShapes, AreTheSameForAnyOrderOfThePoints) {
  for (const CrownShape shape : kShapes) {
    CrownSamples draw(5);
    std::vector<Vec3d> points;
    for (int i = 0; i < 25'000; ++i) {
      const Vec3d p = draw.in_box({1, 1, 1});
      points.push_back({std::pow(p.x, 5) * 10, std::pow(p.y, 5) * 10, std::pow(p.z, 5) * 10});
    }
    const auto found = fit(rows_of(points), shape, 0.5);
    std::mt19937 random(1);
    for (int again = 0; again < 2; ++again) {
      std::shuffle(points.begin(), points.end(), random);
      const auto other = fit(rows_of(points), shape, 0.5);
      EXPECT_NEAR(other.crown->volume_m3 / found.crown->volume_m3, 1, 1e-7);
      EXPECT_EQ(other.crown->enclosed_count, found.crown->enclosed_count);
    }
  }
}

/// Two hundred thousand points at seven places.
TEST(CrownShapes, HoldManyPointsOfOnePlace) {
  std::vector<Vec3d> points(200'000, Vec3d{0, 0, 0});
  for (int i = 0; i < 6; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    const Vec3d at{i / 2 == 0 ? sign : 0, i / 2 == 1 ? sign : 0, i / 2 == 2 ? sign : 0};
    std::fill_n(points.begin() + 30'000 * i, 30'000, at);
  }
  EXPECT_NEAR(fit(rows_of(points), CrownShape::kEllipsoid, 0.2).crown->volume_m3, 4 * 3.14159265 / 3, 1e-6);
}

TEST(CrownShapes, SelectsCrownPointsByTheirLabels) {
  std::vector<Vec3d> points{{0, 0, 0}, {0, 0, 1}};  // ground, stem
  Column<std::uint8_t> ground(12), wood(12), other(12);
  ground[0] = 1;
  wood[1] = 1;
  for (int i = 0; i < 8; ++i) points.push_back({i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 6.0 : 4.0});
  points.push_back({50, 50, 50});  // skipped
  points.push_back({std::nan(""), 0, 0});
  for (std::size_t i = 2; i < 10; ++i) wood[i] = 2;
  other[10] = 1;
  const AnyColumn ground_class(std::move(ground)), wood_class(std::move(wood));
  const AnyColumn skip(std::move(other));
  TreeRows tree = rows_of(points);
  tree.skip = skip.as<std::uint8_t>();
  auto all = fit(tree, CrownShape::kPrism, 0);
  EXPECT_EQ(all.crown_point_count, 10U);
  EXPECT_EQ(all.unusable_count, 1U);
  EXPECT_EQ(all.crown->solid.half, (Vec3d{1, 1, 3}));
  EXPECT_FALSE(all.ground_z.has_value());
  EXPECT_EQ(all.tree_box->min, (Vec3d{-1, -1, 0}));
  tree.ground_class = &ground_class;
  tree.wood_class = &wood_class;
  EXPECT_EQ(fit(tree, CrownShape::kPrism, 0).crown->solid.half, (Vec3d{1, 1, 2.5}));
  tree.leaf_only = true;
  const auto leaf = fit(tree, CrownShape::kPrism, 0);
  EXPECT_EQ(leaf.crown->solid.half, (Vec3d{1, 1, 1}));
  EXPECT_EQ(leaf.crown->solid.center, (Vec3d{0, 0, 5}));
  EXPECT_EQ(leaf.crown->highest_z, 6);
  EXPECT_EQ(*leaf.ground_z, 0);
  tree.wood_class = nullptr;  // leaf_only without leaf labels
  EXPECT_EQ(fit(tree, CrownShape::kPrism, 0).crown_point_count, 9U);
}

TEST(CrownShapes, ReadsThePartOfAnOrder) {
  CrownSamples draw(8);
  std::vector<Vec3d> points;
  for (int i = 0; i < 100; ++i) points.push_back(draw.in_box({1, 1, 1}) + Vec3d{i < 50 ? 0.0 : 100.0, 0, 0});
  for (const DType type : {DType::kU32, DType::kU64}) {
    AnyColumn order(type, 100);
    for (std::size_t i = 0; i < 100; ++i) {
      if (type == DType::kU32) order.as_mutable<std::uint32_t>()[i] = static_cast<std::uint32_t>(i);
      if (type == DType::kU64) order.as_mutable<std::uint64_t>()[i] = i;
    }
    TreeRows tree = rows_of(points);
    tree.order = &order;
    tree.first = tree.count = 50;
    const auto found = fit(tree, CrownShape::kEllipsoid, 0);
    EXPECT_EQ(found.crown_point_count, 50U);
    EXPECT_NEAR(found.crown->solid.center.x, 100, 0.5);
    tree.count = 51;
    EXPECT_THROW(fit(tree, CrownShape::kEllipsoid, 0), Error);
  }
}

TEST(CrownShapes, FewEqualFlatAndUnusablePoints) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const CrownShape shape : kShapes) {
    EXPECT_FALSE(fit(rows_of({}), shape, 0.5).tree_box.has_value());
    EXPECT_FALSE(fit(rows_of({{0, 0, 0}, {1, 0, 2}, {0, 1, 3}}), shape, 0.5).crown.has_value());
    EXPECT_EQ(fit(rows_of({{nan, 0, 0}, {inf, 0, 2}, {0, 1e16, 3}, {0, 0, 0}}), shape, 0.5).unusable_count,
              3U);
    EXPECT_THROW(fit(rows_of(std::vector<Vec3d>(100, {1, 2, 3})), shape, 0.5), Error);
    std::vector<Vec3d> slanted, upright, wall;
    for (int i = 0; i < 60; ++i) {
      slanted.push_back({i * 0.1, i * 0.1, i * 0.1});
      upright.push_back({5, 5, i * 0.1});
      wall.push_back({i * 0.1, 3, std::fmod(i * 0.37, 2)});
    }
    EXPECT_EQ(fit(rows_of(slanted), shape, 0.5).crown->flat, false);
    EXPECT_EQ(fit(rows_of(upright), shape, 0.5).crown->flat, true);
    EXPECT_EQ(fit(rows_of(wall), shape, 0.5).crown->flat, shape != CrownShape::kCone);
    for (const double strictness : {0.0, 0.2, 1.0}) {
      const auto four = fit(rows_of({{0, 0, 0}, {1, 0, 2}, {0, 1, 3}, {1, 1, 1}}), shape, strictness);
      EXPECT_EQ(four.crown->enclosed_count, 4U);
    }
    // Most points at one place, the others around it.
    std::vector<Vec3d> heap(1000, {1, 2, 3});
    CrownSamples draw(1);
    for (int i = 0; i < 500; ++i) heap.push_back(draw.in_box({2, 2, 2}) + Vec3d{1, 2, 3});
    const auto found = fit(rows_of(heap), shape, 0.5);
    EXPECT_GE(found.crown->enclosed_count, 1500 - droppable_points(1500, 0.5));
    EXPECT_GT(found.crown->volume_m3, 1);
  }
}

/// Strictness may leave every point outside that does not lie at the one place of the others.
TEST(CrownShapes, AHeapWhoseStraysMayGoIsFlat) {
  std::vector<Vec3d> heap(800, {1, 2, 3});
  CrownSamples draw(2);
  for (int i = 0; i < 200; ++i) heap.push_back(draw.in_box({2, 2, 2}) + Vec3d{1, 2, 3});
  for (const CrownShape shape : {CrownShape::kEllipsoid, CrownShape::kPrism}) {
    const auto found = fit(rows_of(heap), shape, 1);
    EXPECT_EQ(found.crown->enclosed_count, 800U);
    EXPECT_GT(found.crown->volume_m3, 0);
    EXPECT_TRUE(found.crown->flat);
    EXPECT_NEAR(found.crown->solid.center.z, 3, 1e-9);
  }
  try {
    fit(rows_of(heap), CrownShape::kCone, 1);
    ADD_FAILURE() << "a cone around one place";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("that strictness keeps"), std::string::npos);
  }
}

struct MeshFacts {
  double volume = 0;
  bool closed = true;
  bool outward = true;
  Box3d box;
};
MeshFacts facts_of(const CrownMesh& mesh, const Vec3d& inside) {
  MeshFacts facts;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const Vec3d& v : mesh.vertices) facts.box.add(v);
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    const std::uint32_t t[3]{mesh.triangles[i], mesh.triangles[i + 1], mesh.triangles[i + 2]};
    for (int k = 0; k < 3; ++k) ++edges[{t[k], t[(k + 1) % 3]}];
    const Vec3d a = mesh.vertices[t[0]] - inside, b = mesh.vertices[t[1]] - inside,
                c = mesh.vertices[t[2]] - inside;
    const double six =
        a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
    facts.volume += six / 6;
    facts.outward = facts.outward && six > 0;
  }
  for (const auto& [edge, count] : edges) {
    const auto back = edges.find({edge.second, edge.first});
    facts.closed = facts.closed && count == 1 && back != edges.end() && back->second == 1;
  }
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3d out = mesh.vertices[i] - inside, n = mesh.normals[i];
    facts.outward = facts.outward && out.x * n.x + out.y * n.y + out.z * n.z > 0;
    EXPECT_NEAR(n.x * n.x + n.y * n.y + n.z * n.z, 1, 1e-12);
  }
  return facts;
}

TEST(CrownShapes, MeshesAreClosedFaceOutwardsAndTouchTheirBox) {
  const std::map<CrownShape, std::pair<std::size_t, std::size_t>> sizes{
      {CrownShape::kEllipsoid, {362, 720}}, {CrownShape::kPrism, {8, 12}}, {CrownShape::kCone, {34, 64}}};
  for (const CrownShape shape : kShapes) {
    const CrownSolid solid = truth_of(shape);
    const CrownMesh mesh = crown_mesh(solid, {100, 200, 300});
    const Vec3d middle = solid.center + Vec3d{100, 200, 300 - 0.1};
    EXPECT_EQ(mesh.vertices.size(), sizes.at(shape).first);
    EXPECT_EQ(mesh.triangles.size(), 3 * sizes.at(shape).second);
    const MeshFacts facts = facts_of(mesh, middle);
    EXPECT_TRUE(facts.closed && facts.outward);
    EXPECT_EQ(facts.box.min, (solid.center + Vec3d{100, 200, 300} - solid.half));
    EXPECT_EQ(facts.box.max, (solid.center + Vec3d{100, 200, 300} + solid.half));
    EXPECT_NEAR(facts.volume / crown_volume(solid), 1, shape == CrownShape::kPrism ? 1e-12 : 0.03);
    EXPECT_LE(facts.volume, crown_volume(solid) * (1 + 1e-12));
    EXPECT_TRUE(facts_of(crown_mesh({shape, {0, 0, 0}, {1, 1, 1e-6}}, {0, 0, 0}), {0, 0, -1e-7}).closed);
  }
}

TEST(CrownShapes, EveryPhaseEndsSoonAfterACancel) {
  CrownSamples draw(4);
  std::vector<Vec3d> points;
  const std::vector<Vec3d> few = draw.filled(truth_of(CrownShape::kEllipsoid), 20'000);
  for (int i = 0; i < 50; ++i)
    for (const Vec3d& p : few) points.push_back({p.x + 1e-6 * i, p.y, p.z - 1e-6 * i});
  for (const CrownShape shape : kShapes)
    for (const char* phase : {"Reading crown points", "Finding stray points", "Fitting the crown"})
      test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
        fit_crown(rows_of(points), {shape, 0.5, {0, 0, 0}, std::nullopt, 0}, ctx);
      });
}

}  // namespace
}  // namespace pc

#include "ops/mesh/poisson.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ops/registration/point_to_mesh_distance.h"
#include "support/cancel.h"
#include "support/fuzz_runs.h"
#include "support/nasty_surfaces.h"
#include "support/surfaces.h"

namespace pc {
namespace {

using test::Surface;
using test::Topology;

const PoissonParams kParams{8, 1.1, 0.6, 2, true, std::uint64_t{4} << 30};

PoissonResult reconstruct(const Surface& cloud, const PoissonParams& params = kParams, int threads = 2) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return poisson(HitPoints::assume_hits({cloud.points.data(), cloud.points.size()}),
                 {cloud.normals.data(), cloud.normals.size()}, params, ctx);
}

Topology topology(const PoissonResult& result) {
  return test::topology_of(result.mesh.vertices.size(), result.mesh.indices.view().data,
                           result.mesh.indices.size());
}

Surface joined(Surface a, const Surface& b) {
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  a.normals.insert(a.normals.end(), b.normals.begin(), b.normals.end());
  return a;
}

double signed_volume(const PoissonResult& result, const Vec3d& about) {
  double sum = 0;
  const auto corner = [&](std::size_t i) { return result.mesh.vertices[result.mesh.indices[i]] - about; };
  for (std::size_t t = 0; t < result.mesh.indices.size(); t += 3) {
    const Vec3d a = corner(t), b = corner(t + 1), c = corner(t + 2);
    sum +=
        (a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x)) / 6;
  }
  return sum;
}

/// Largest and mean distance of the vertices, and of exact points to the mesh.
struct Errors {
  double mean, most, mean_back, most_back;
};
template <class Distance>
Errors errors_of(const PoissonResult& result, const Surface& exact, const Distance& distance) {
  Errors out{0, 0, 0, 0};
  for (const Vec3d& v : result.mesh.vertices.view()) {
    out.mean += distance(v) / static_cast<double>(result.mesh.vertices.size());
    out.most = std::max(out.most, distance(v));
  }
  JobControl control;
  OpContext ctx(control);
  const auto back = point_to_mesh_distance({exact.points.data(), exact.points.size()}, {}, result.mesh.view(),
                                           {{0, 0, 0}, 1, false}, ctx);
  out.mean_back = back.spread->mean;
  out.most_back = back.spread->max;
  return out;
}

/// Diagonal 3.464. With 20,000 points PoissonRecon at depth 8 has a mean error of .005 % of it and at most .12 %.
TEST(Poisson, ASphereIsClosedAndCloseAnywhere) {
  for (const Vec3d& at : {Vec3d{0, 0, 0}, Vec3d{500'000, 5'400'000, 300}}) {
    const PoissonResult result = reconstruct(test::sphere(4000, 1, at));
    const Topology found = topology(result);
    EXPECT_EQ(found.boundary + found.nonmanifold + found.conflicts, 0U);
    EXPECT_EQ(found.components, 1U);
    EXPECT_EQ(found.euler, 2);
    EXPECT_EQ(result.trimmed_count + result.speck_count + result.ignored_count, 0U);
    EXPECT_NEAR(signed_volume(result, at), 4 * M_PI / 3, 0.01);
    const Errors errors = errors_of(result, test::sphere(3000, 1, at), [&](const Vec3d& v) {
      return std::abs(std::sqrt(squared_distance(v, at)) - 1);
    });
    EXPECT_LT(errors.mean, 0.0002 * 3.464);
    EXPECT_LT(errors.mean_back, 0.0002 * 3.464);
    EXPECT_LT(std::max(errors.most, errors.most_back), 0.0015 * 3.464);
  }
}

/// Noise .2 % of the diagonal: the mean error is at most half that of the points (.8 sigma).
TEST(Poisson, ANoisyTorusIsOneSurface) {
  const double sigma = 0.002 * 3.882;
  const PoissonResult result = reconstruct(test::torus(6000, 1, 0.35, {0, 0, 0}, sigma));
  const Topology found = topology(result);
  EXPECT_EQ(found.boundary + found.nonmanifold + found.conflicts, 0U);
  EXPECT_EQ(found.components, 1U);
  EXPECT_EQ(found.euler, 0);
  const Errors errors = errors_of(result, test::torus(3000, 1, 0.35, {0, 0, 0}),
                                  [](const Vec3d& v) { return test::torus_distance(v, 1, 0.35); });
  EXPECT_LT(std::max(errors.mean, errors.mean_back), 0.4 * sigma);
  EXPECT_LT(std::max(errors.most, errors.most_back), 5 * sigma);
}

/// Cells of many sizes next to each other, and two surfaces.
TEST(Poisson, TwoSpheresOfDifferentDensityAreTwoClosedSurfaces) {
  const PoissonResult result =
      reconstruct(joined(test::sphere(4000, 0.2, {0, 0, 0}), test::sphere(1000, 1, {1.5, 0.3, 0})));
  const Topology found = topology(result);
  EXPECT_EQ(found.boundary + found.nonmanifold + found.conflicts, 0U);
  EXPECT_EQ(found.components, 2U);
  EXPECT_EQ(found.euler, 4);
}

TEST(Poisson, AnOpenSheetIsTrimmedAtItsBorder) {
  const Surface sheet = test::wave(2000, 0.1);
  PoissonParams wide = kParams;
  wide.scale = 1.5;
  PoissonParams whole = wide;
  whole.trim = false;
  const auto beyond = [](const PoissonResult& result) {
    double most = 0;
    for (const Vec3d& v : result.mesh.vertices.view())
      most = std::max({most, std::abs(v.x) - 1, std::abs(v.y) - 1});
    return most;
  };
  const double spacing = 2 / std::sqrt(2000.0);
  EXPECT_GT(beyond(reconstruct(sheet, whole)), 4 * spacing);
  const PoissonResult trimmed = reconstruct(sheet, wide);
  EXPECT_LT(beyond(trimmed), 2 * spacing);
  std::size_t far_count = 0;
  for (const Vec3d& v : trimmed.mesh.vertices.view())
    far_count += std::max(std::abs(v.x), std::abs(v.y)) - 1 > 1.2 * spacing ? 1 : 0;
  EXPECT_LT(50 * far_count, topology(trimmed).boundary);
  EXPECT_GT(trimmed.trimmed_count, 0U);
  EXPECT_EQ(topology(trimmed).components, 1U);
  EXPECT_EQ(topology(trimmed).euler, 1);
  const Errors errors = errors_of(trimmed, sheet, [](const Vec3d&) { return 0.0; });
  EXPECT_LT(errors.most_back, 0.5 * spacing);
}

double area_of(const PoissonResult& result) {
  double sum = 0;
  const auto corner = [&](std::size_t i) { return result.mesh.vertices[result.mesh.indices[i]]; };
  for (std::size_t t = 0; t < result.mesh.indices.size(); t += 3) {
    const Vec3d n = cross(corner(t + 1) - corner(t), corner(t + 2) - corner(t));
    sum += std::sqrt(dot(n, n)) / 2;
  }
  return sum;
}

/// Scan rows are `ratio` times as far apart as the points of a row; every other row is shifted by half a point.
Surface rows_of_points(std::size_t rows, double ratio) {
  Surface out;
  const double apart = 2.0 / static_cast<double>(rows), step = apart / ratio;
  for (std::size_t row = 0; row < rows; ++row) {
    for (double x = -1 + (row % 2 == 0 ? 0.25 : 0.75) * step; x < 1; x += step) {
      out.points.push_back({x, -1 + (static_cast<double>(row) + 0.5) * apart, 0});
      out.normals.push_back({0, 0, 1});
    }
  }
  return out;
}

TEST(Poisson, RowsFarApartAreNoBorder) {
  PoissonParams wide = kParams;
  wide.scale = 1.5;
  for (const double ratio : {3.0, 10.0, 25.0}) {
    const PoissonResult result = reconstruct(rows_of_points(40, ratio), wide);
    EXPECT_EQ(topology(result).components, 1U) << ratio;
    EXPECT_EQ(topology(result).euler, 1) << ratio;
    EXPECT_GT(area_of(result), 4 * 0.95) << ratio;
    EXPECT_LT(area_of(result), 4 * 1.15) << ratio;
  }
}

/// Random samples of the faces of the cube [-1, 1]^3.
Surface cube(std::size_t count, std::uint64_t seed) {
  Surface out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t face = random_u64(seed, 3 * i) % 6;
    double p[3], n[3] = {0, 0, 0};
    const double side = face % 2 == 0 ? -1 : 1;
    p[face / 2] = n[face / 2] = side;
    p[(face / 2 + 1) % 3] = 2 * random_unit(seed, 3 * i + 1) - 1;
    p[(face / 2 + 2) % 3] = 2 * random_unit(seed, 3 * i + 2) - 1;
    out.points.push_back({p[0], p[1], p[2]});
    out.normals.push_back({n[0], n[1], n[2]});
  }
  return out;
}

/// In spacings of the samples, on average over the whole cube: without finer cells at the edges .041.
TEST(Poisson, EdgesAreSharp) {
  const PoissonResult result = reconstruct(cube(6000, 7));
  EXPECT_EQ(topology(result).boundary, 0U);
  const Errors errors = errors_of(result, cube(20'000, 8), [](const Vec3d&) { return 0.0; });
  EXPECT_LT(errors.mean_back, 0.0375 * std::sqrt(24 / 6000.0));
}

/// 8,253 samples ask for cells between levels 6 and 7, nearer to 7, by their spacing. With the weight of level 7, the surface
/// follows the noise: mean error .276 sigma.
TEST(Poisson, CellsFinerThanTheSamplesDoNotFollowNoise) {
  const double sigma = 0.004 * 3.882;
  const PoissonResult result = reconstruct(test::torus(8253, 1, 0.35, {0, 0, 0}, sigma));
  const Errors errors = errors_of(result, test::torus(3000, 1, 0.35, {0, 0, 0}),
                                  [](const Vec3d& v) { return test::torus_distance(v, 1, 0.35); });
  EXPECT_LT(errors.mean, 0.25 * sigma);
  EXPECT_LT(errors.mean_back, 0.245 * sigma);
}

/// Vertices from which two and more edges of a border lead away: triangles that touch in a vertex alone.
std::size_t touching_vertices(const PoissonResult& result) {
  const auto corners = result.mesh.indices.view();
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  const auto next = [&](std::size_t i) { return corners[i - i % 3 + (i + 1) % 3]; };
  for (std::size_t i = 0; i < corners.size; ++i) edges.insert({corners[i], next(i)});
  std::map<std::uint32_t, int> leaving;
  for (const auto& [from, to] : edges) leaving[from] += edges.count({to, from}) == 0 ? 1 : 0;
  return static_cast<std::size_t>(
      std::count_if(leaving.begin(), leaving.end(), [](const auto& one) { return one.second > 1; }));
}

/// Of two borders, as random samples leave them.
TEST(Poisson, NothingTouchesABorderInAVertexAlone) {
  for (const std::uint64_t seed : {2U, 5U}) {  // without a cut at such vertices they have one each
    Surface cylinder;
    for (std::uint64_t i = 0; i < 4000; ++i) {
      const double angle = 2 * M_PI * random_unit(seed, 2 * i);
      const Vec3d normal{std::cos(angle), std::sin(angle), 0};
      cylinder.points.push_back({0.5 * normal.x, 0.5 * normal.y, 2 * random_unit(seed, 2 * i + 1)});
      cylinder.normals.push_back(normal);
    }
    const PoissonResult result = reconstruct(cylinder);
    EXPECT_EQ(touching_vertices(result), 0U) << seed;
    EXPECT_EQ(topology(result).components, 1U) << seed;
  }
}

TEST(Poisson, NormalsDecideTheSide) {
  Surface cloud = test::sphere(800, 1, {0, 0, 0});
  EXPECT_GT(signed_volume(reconstruct(cloud), {0, 0, 0}), 3.9);
  for (Vec3d& n : cloud.normals) n = n * -1;
  EXPECT_LT(signed_volume(reconstruct(cloud), {0, 0, 0}), -3.9);
}

TEST(Poisson, DuplicatesChangeNothingAndUnusableRowsAreCounted) {
  const Surface once = test::sphere(800, 1, {0, 0, 0});
  Surface twice = joined(once, once);
  const PoissonResult a = reconstruct(once), b = reconstruct(twice);
  ASSERT_EQ(a.mesh.vertices.size(), b.mesh.vertices.size());
  for (std::size_t i = 0; i < a.mesh.vertices.size(); ++i)
    ASSERT_LT(squared_distance(a.mesh.vertices[i], b.mesh.vertices[i]), 1e-16);
  twice.points[5].z = std::nan("");
  twice.normals[6] = {0, 0, 0};
  twice.normals[7].x = std::nan("");
  EXPECT_EQ(reconstruct(twice).ignored_count, 3U);
}

TEST(Poisson, SameBitsForAnyThreadCount) {
  const Surface cloud = test::torus(2000, 1, 0.35, {0, 0, 0}, 0.01);
  const PoissonResult one = reconstruct(cloud, kParams, 1), many = reconstruct(cloud, kParams, 5);
  ASSERT_EQ(one.mesh.vertices.size(), many.mesh.vertices.size());
  for (std::size_t i = 0; i < one.mesh.vertices.size(); ++i)
    ASSERT_EQ(one.mesh.vertices[i], many.mesh.vertices[i]);
  EXPECT_TRUE(std::equal(one.mesh.indices.view().begin(), one.mesh.indices.view().end(),
                         many.mesh.indices.view().begin(), many.mesh.indices.view().end()));
}

/// A few of them at a depth with adaptive levels, and some with room beyond the points, where borders are cut.
TEST(Poisson, NastyCloudsGiveManifoldEdgesOrAnError) {
  std::size_t made = 0;
  const std::uint64_t runs = test::fuzz_runs(250);
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const Surface cloud = test::nasty_cloud(seed);
    PoissonParams params{seed % 60 == 0 ? 6U : static_cast<std::uint32_t>(1 + seed % 4),
                         seed % 3 == 0 ? 4 : 1.1,
                         0.6,
                         seed % 4 == 0 ? 0 : 2.5,
                         seed % 2 == 0,
                         std::uint64_t{1} << 30};
    try {
      const PoissonResult result = reconstruct(cloud, params, 1);
      const Topology found = topology(result);
      ASSERT_EQ(found.nonmanifold + found.conflicts, 0U) << "seed " << seed;
      for (const Vec3d& v : result.mesh.vertices.view()) ASSERT_TRUE(is_finite(v)) << "seed " << seed;
      ++made;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kInvalidArgument) << "seed " << seed << ": " << error.what();
    }
  }
  EXPECT_GT(made, 2 * runs / 5);
}

TEST(Poisson, TooLittleMemoryIsAnErrorThatNamesDepthAndBytes) {
  const Surface cloud = test::sphere(4000, 1, {0, 0, 0});
  PoissonParams params = kParams;
  params.memory_bytes = 10'000'000;
  try {
    reconstruct(cloud, params);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find("depth 8 needs"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("10000000"), std::string::npos) << error.what();
  }
}

TEST(Poisson, EndsSoonAfterACancel) {
  const Surface cloud = test::sphere(5000, 1, {0, 0, 0});
  for (const char* const phase :
       {"Building octree", "Solving", "Extracting surface", "Filtering low-density vertices"})
    test::expect_cancel_in_phase(phase, [&](OpContext& ctx) {
      poisson(HitPoints::assume_hits({cloud.points.data(), cloud.points.size()}),
              {cloud.normals.data(), cloud.normals.size()}, kParams, ctx);
    });
}

TEST(Poisson, RefusesAnExtentWhoseInverseIsInfinite) {
  Surface cloud = test::sphere(100, 1, {0, 0, 0});
  for (Vec3d& p : cloud.points) p = p * 1e-310;
  try {
    reconstruct(cloud, kParams);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1e-150 to 1e150 m apart"), std::string::npos) << error.what();
  }
}

TEST(Poisson, RefusesWrongParameters) {
  const Surface cloud = test::sphere(100, 1, {0, 0, 0});
  const auto refused = [&](auto&& change) {
    PoissonParams params = kParams;
    change(params);
    EXPECT_THROW(reconstruct(cloud, params), Error);
  };
  refused([](PoissonParams& p) { p.depth = 0; });
  refused([](PoissonParams& p) { p.depth = 13; });
  refused([](PoissonParams& p) { p.scale = 0.9; });
  refused([](PoissonParams& p) { p.samples_per_node = 0; });
  refused([](PoissonParams& p) { p.point_weight = -1; });
  refused([](PoissonParams& p) { p.point_weight = std::nan(""); });
}

}  // namespace
}  // namespace pc

#include "ops/lad/triangulated_projection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLeaf_m = 0.03, kStep_rad = 0.0007, kRange_m = 4;

/// Square leaves, each alone in its window of a raster; none hides another.
struct Leaves {
  std::vector<Vec3d> vertices;
  std::vector<std::uint32_t> indices, scans;
};

Vec3d beam(double zenith, double bearing) {
  return {std::sin(zenith) * std::sin(bearing), std::sin(zenith) * std::cos(bearing), std::cos(zenith)};
}

/// Adds the triangles between three neighbouring hits of one leaf that pass the limits.
void add_leaf(Leaves& out, const Vec3d& normal, double turn, double zenith, double bearing,
              const TriangleLimits& limits) {
  constexpr int kWindow = 16;  // pulses: half the leaf and more
  const Vec3d aside = std::abs(normal.z) > 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1};
  Vec3d u = cross(normal, aside);
  u = u * (1 / std::sqrt(dot(u, u)));
  const Vec3d v = cross(normal, u), centre = beam(zenith, bearing) * kRange_m;
  std::vector<Vec3d> hits(4 * kWindow * kWindow);
  std::vector<bool> hit(hits.size(), false);
  for (int i = 0; i < 2 * kWindow; ++i)
    for (int j = 0; j < 2 * kWindow; ++j) {
      const Vec3d d = beam(zenith + kStep_rad * (i - kWindow + turn),
                           bearing + kStep_rad * (j - kWindow + turn / 3) / std::sin(zenith));
      const Vec3d off = d * (dot(centre, normal) / dot(d, normal)) - centre;
      const double a = std::cos(turn) * dot(off, u) + std::sin(turn) * dot(off, v),
                   b = std::cos(turn) * dot(off, v) - std::sin(turn) * dot(off, u);
      const auto at = static_cast<std::size_t>(2 * kWindow * i + j);
      hits[at] = off + centre;
      hit[at] = std::abs(a) < kLeaf_m / 2 && std::abs(b) < kLeaf_m / 2;
    }
  std::vector<std::int64_t> vertex(hits.size(), -1);
  const auto put = [&](std::size_t a, std::size_t b, std::size_t c) {
    if (!(hit[a] && hit[b] && hit[c])) return;
    const Vec3d sides[3] = {hits[a] - hits[b], hits[b] - hits[c], hits[c] - hits[a]};
    double longest = 0, shortest = HUGE_VAL;
    for (const Vec3d& side : sides) {
      longest = std::max(longest, std::sqrt(dot(side, side)));
      shortest = std::min(shortest, std::sqrt(dot(side, side)));
    }
    if (longest > limits.lmax_m || longest > limits.max_aspect_ratio * shortest) return;
    for (const std::size_t corner : {a, b, c}) {
      if (vertex[corner] < 0) {
        vertex[corner] = static_cast<std::int64_t>(out.vertices.size());
        out.vertices.push_back(hits[corner]);
      }
      out.indices.push_back(static_cast<std::uint32_t>(vertex[corner]));
    }
    out.scans.push_back(0);
  };
  for (std::size_t i = 0; i + 1 < 2 * kWindow; ++i)
    for (std::size_t j = 0; j + 1 < 2 * kWindow; ++j) {
      const std::size_t a = 2 * kWindow * i + j, b = a + 1, c = a + 2 * kWindow, d = c + 1;
      put(a, b, c);
      put(b, d, c);
    }
}

/// Leaves of a law; the beams have zeniths of 60 to 110 degrees.
Leaves leaves_of(LeafAngleLaw law, std::uint64_t seed, const TriangleLimits& limits) {
  Leaves out;
  std::uint64_t next = 0;
  const auto unit = [&] { return random_unit(seed, next++); };
  for (int leaf = 0; leaf < 1000; ++leaf) {
    double inclination = 0;
    do inclination = kPi / 2 * unit();
    while (unit() >
           (law == LeafAngleLaw::kSpherical ? std::sin(inclination) : (1 + std::cos(2 * inclination)) / 2));
    const double azimuth = 2 * kPi * unit(), turn = unit(), zenith = (60 + 50 * unit()) * kPi / 180;
    const double bearing = 0.05 * leaf;
    add_leaf(out,
             {std::sin(inclination) * std::cos(azimuth), std::sin(inclination) * std::sin(azimuth),
              std::cos(inclination)},
             turn, zenith, bearing, limits);
  }
  return out;
}

template <class T>
Span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

struct Found {
  double weighed, plain, folded;
};

Found projections(const Leaves& leaves, const TriangleLimits& limits, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  const std::vector<Vec3d> origins{{0, 0, 0}};
  const VoxelBox grid{{0, 0, 0}, {20, 20, 20}, 1, 1, 1, 0, {}, {}};
  const LeafTriangles mesh{span_of(leaves.vertices), span_of(leaves.indices), span_of(leaves.scans),
                           span_of(origins)};
  const TriangulatedProjection found = triangulated_projection(mesh, limits, grid, ctx);
  return {found.g[0], voxel_projection(mesh, grid, ctx).g[0], found.folded};
}

/// G of the law, averaged over the zeniths of the beams.
double truth(LeafAngleLaw law) {
  JobControl control;
  OpContext ctx(control);
  std::vector<double> zeniths;
  for (int i = 0; i < 100; ++i) zeniths.push_back((60 + 0.5 * (i + 0.5)) * kPi / 180);
  double sum = 0;
  for (const double g : leaf_projection({law}, zeniths, ctx)) sum += g / 100;
  return sum;
}

TEST(TriangulatedProjection, IsThatOfTheLeavesForAnyLimits) {
  for (const LeafAngleLaw law : {LeafAngleLaw::kSpherical, LeafAngleLaw::kPlanophile})
    for (const TriangleLimits& limits :
         {TriangleLimits{0.012, 4}, TriangleLimits{0.06, 4}, TriangleLimits{0.06, 10}}) {
      const double wanted = truth(law);
      for (const std::uint64_t seed : {1}) {
        const Found found = projections(leaves_of(law, seed, limits), limits);
        // Strips of less than two rows of pulses have no triangle: they are missing for good. Ten rows face a beam.
        EXPECT_NEAR(found.weighed / wanted, 1, 0.08) << limits.lmax_m << ' ' << limits.max_aspect_ratio;
        EXPECT_GT(found.plain - found.weighed, (limits.lmax_m < 0.06 ? 0.2 : 0.04) * wanted);
      }
    }
}

TEST(TriangulatedProjection, IsTheSameForAnyNumberOfThreads) {
  const TriangleLimits limits{0.012, 4};
  const Leaves leaves = leaves_of(LeafAngleLaw::kSpherical, 3, limits);
  EXPECT_EQ(projections(leaves, limits, 1).weighed, projections(leaves, limits, 2).weighed);
}

TEST(TriangulatedProjection, TrianglesBetweenLeavesCountNowhere) {
  const TriangleLimits limits{0.06, 10};
  const Leaves alone = leaves_of(LeafAngleLaw::kPlanophile, 4, limits);
  Leaves joined = alone;
  const std::size_t count = alone.scans.size();
  for (std::size_t t = 0; t < count; t += 9) {  // from an edge to a leaf behind it
    const Vec3d hit = alone.vertices[alone.indices[3 * t]] * (1 + 0.02 / kRange_m);
    joined.vertices.push_back(hit + Vec3d{0, 0, 0.02});
    for (const std::uint32_t corner : {alone.indices[3 * t], alone.indices[3 * t + 1],
                                       static_cast<std::uint32_t>(joined.vertices.size() - 1)})
      joined.indices.push_back(corner);
    joined.scans.push_back(0);
  }
  const Found before = projections(alone, limits), after = projections(joined, limits);
  EXPECT_NEAR(after.weighed, before.weighed,
              0.06 * before.weighed);  // a tenth of them is nearly in the plane
  EXPECT_GT(std::abs(after.plain - before.plain), 0.02 * before.plain);
  EXPECT_LT(before.folded, 0.01);
  EXPECT_NEAR(after.folded, 0.09, 0.01);
}

TEST(TriangulatedProjection, NoiseThatFoldsLeavesLeavesNoTriangleOut) {
  const TriangleLimits limits{0.06, 10};
  Leaves leaves = leaves_of(LeafAngleLaw::kSpherical, 5, limits);
  for (std::size_t v = 0; v < leaves.vertices.size(); ++v)
    leaves.vertices[v] = leaves.vertices[v] * (1 + 0.005 * (2 * random_unit(6, v) - 1) / kRange_m);
  JobControl control;
  OpContext ctx(control);
  const std::vector<Vec3d> origins{{0, 0, 0}};
  const TriangulatedProjection found = triangulated_projection(
      {span_of(leaves.vertices), span_of(leaves.indices), span_of(leaves.scans), span_of(origins)}, limits,
      {{0, 0, 0}, {20, 20, 20}, 1, 1, 1, 0, {}, {}}, ctx);
  EXPECT_GT(found.folded, kMostFolded);
  EXPECT_EQ(found.triangle_count, leaves.scans.size());
}

TEST(TriangulatedProjection, RefusesWrongCornersAndLimits) {
  const TriangleLimits limits{0.012, 4};
  Leaves wrong = leaves_of(LeafAngleLaw::kSpherical, 3, limits);
  EXPECT_THROW(projections(wrong, {0, 4}), Error);
  EXPECT_THROW(projections(wrong, {NAN, 4}), Error);
  EXPECT_THROW(projections(wrong, {1, 0.5}), Error);
  wrong.indices[5] = static_cast<std::uint32_t>(wrong.vertices.size());
  EXPECT_THROW(projections(wrong, limits), Error);
  EXPECT_EQ(projections({}, limits).weighed, 0);
}

}  // namespace
}  // namespace pc

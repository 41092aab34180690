#include "ops/lad/triangulated_projection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/lad/beam_traversal.h"

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

/// Zenith angles of beams, degrees.
struct Zeniths {
  double least = 60, most = 110;
};

/// Leaves of a law.
Leaves leaves_of(LeafAngleLaw law, std::uint64_t seed, const TriangleLimits& limits, Zeniths zeniths = {}) {
  Leaves out;
  std::uint64_t next = 0;
  const auto unit = [&] { return random_unit(seed, next++); };
  for (int leaf = 0; leaf < 1000; ++leaf) {
    double inclination = 0;
    do inclination = kPi / 2 * unit();
    while (unit() >
           (law == LeafAngleLaw::kSpherical ? std::sin(inclination) : (1 + std::cos(2 * inclination)) / 2));
    const double azimuth = 2 * kPi * unit(), turn = unit(),
                 zenith = (zeniths.least + (zeniths.most - zeniths.least) * unit()) * kPi / 180;
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

const std::vector<Vec3d> kOrigins{{0, 0, 0}};
const VoxelBox kGrid{{0, 0, 0}, {20, 20, 20}, 1, 1, 1, 0, {}, {}};

LeafTriangles mesh_of(const Leaves& leaves) {
  return {span_of(leaves.vertices), span_of(leaves.indices), span_of(leaves.scans), span_of(kOrigins)};
}

/// In one voxel.
TriangulatedProjection of_triangles(const Leaves& leaves, const TriangleLimits& limits, int threads = 1) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return triangulated_projection(mesh_of(leaves), limits, kGrid, ctx);
}

Found projections(const Leaves& leaves, const TriangleLimits& limits, int threads = 1) {
  JobControl control;
  OpContext ctx(control);
  const TriangulatedProjection found = of_triangles(leaves, limits, threads);
  return {found.g[0], voxel_projection(mesh_of(leaves), kGrid, ctx).g[0], found.folded};
}

/// Share of the triangles that tell inclinations.
double telling(const Leaves& leaves, const TriangleLimits& limits) {
  const TriangulatedProjection found = of_triangles(leaves, limits);
  return static_cast<double>(found.telling_count) / static_cast<double>(found.triangle_count);
}

/// G of the law, averaged over the zeniths of the beams.
double truth(LeafAngleLaw law, Zeniths range = {}) {
  JobControl control;
  OpContext ctx(control);
  std::vector<double> zeniths;
  for (int i = 0; i < 100; ++i)
    zeniths.push_back((range.least + (range.most - range.least) * (i + 0.5) / 100) * kPi / 180);
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
        // Strips of less than two rows of pulses have no triangle. Ten rows face a beam.
        EXPECT_NEAR(found.weighed / wanted, 1, 0.05) << limits.lmax_m << ' ' << limits.max_aspect_ratio;
        EXPECT_GT(found.plain - found.weighed, (limits.lmax_m < 0.06 ? 0.2 : 0.04) * wanted);
      }
    }
}

TEST(TriangulatedProjection, IsThatOfTheLeavesFromAnyAngle) {
  for (const LeafAngleLaw law : {LeafAngleLaw::kSpherical, LeafAngleLaw::kPlanophile})
    for (const Zeniths& range : {Zeniths{5, 25}, Zeniths{30, 60}, Zeniths{155, 175}, Zeniths{85, 95}})
      for (const TriangleLimits& limits : {TriangleLimits{0.012, 4}, TriangleLimits{0.06, 10}}) {
        const double found = projections(leaves_of(law, 2, limits, range), limits).weighed;
        // Level beams see none of half the area of flat leaves.
        const bool unseen = law == LeafAngleLaw::kPlanophile && range.least == 85;
        EXPECT_NEAR(found / truth(law, range), 1, unseen ? 0.25 : 0.06)
            << static_cast<int>(law) << ' ' << range.least << ' ' << limits.lmax_m;
      }
}

TEST(TriangulatedProjection, EachBeamHasTheGOfItsAngle) {
  const TriangleLimits limits{0.03, 6};
  Leaves leaves = leaves_of(LeafAngleLaw::kPlanophile, 8, limits, {5, 40});
  const Leaves level = leaves_of(LeafAngleLaw::kPlanophile, 9, limits, {70, 90});
  const auto first = static_cast<std::uint32_t>(leaves.vertices.size());
  leaves.vertices.insert(leaves.vertices.end(), level.vertices.begin(), level.vertices.end());
  for (const std::uint32_t corner : level.indices) leaves.indices.push_back(first + corner);
  leaves.scans.insert(leaves.scans.end(), level.scans.begin(), level.scans.end());
  JobControl control;
  OpContext ctx(control);
  const TriangulatedProjection found = of_triangles(leaves, limits);
  ASSERT_EQ(found.beam_factors.size(), kZenithBins);
  for (const double degrees : {10.0, 45.0, 80.0}) {
    const double g =
        found.beam_g[0] * found.beam_factors[static_cast<std::size_t>(degrees / 90 * kZenithBins)];
    const double wanted = leaf_projection({LeafAngleLaw::kPlanophile}, {degrees * kPi / 180}, ctx)[0];
    EXPECT_NEAR(g / wanted, 1, 0.05) << degrees;
  }
}

TEST(TriangulatedProjection, TellsWhenTheHitsAreTooFarApart) {
  const TriangleLimits wide{0.06, 10}, narrow{0.003, 10};  // the hits are 2.8 mm apart
  const Leaves leaves = leaves_of(LeafAngleLaw::kSpherical, 3, wide);
  EXPECT_GT(telling(leaves, wide), 0.9);
  EXPECT_EQ(telling(leaves, narrow), 0);
  EXPECT_NEAR(of_triangles(leaves, wide).spacing_m, kRange_m * kStep_rad, 0.03 * kRange_m * kStep_rad);
}

TEST(TriangulatedProjection, BesideTheLongestEdgeGIsRightOrUnknown) {
  int known = 0;
  for (const double lmax_m : {0.0034, 0.0038, 0.0042, 0.0046, 0.005, 0.0056, 0.0064, 0.008, 0.01}) {
    const TriangleLimits limits{lmax_m, 4};  // the hits are 2.8 mm apart
    for (const Zeniths range : {Zeniths{85, 95}, Zeniths{60, 110}}) {
      const TriangulatedProjection found =
          of_triangles(leaves_of(LeafAngleLaw::kSpherical, 3, limits, range), limits);
      if (found.telling_count == 0) continue;
      ++known;
      EXPECT_NEAR(found.g[0] / truth(LeafAngleLaw::kSpherical, range), 1, 0.15)
          << lmax_m << ' ' << range.least;
    }
  }
  EXPECT_GE(known, 6);
}

TEST(AlwaysWithin, IsTheLeastCosineAtWhichEveryTiltPasses) {
  std::uint64_t next = 0;
  const auto unit = [&] { return random_unit(11, next++); };
  const TriangleLimits limits{0.02, 4};
  const auto passes = [&](const Vec3d beams[3], double cosine, double turn) {
    const Vec3d centre = (beams[0] + beams[1] + beams[2]) * (1.0 / 3);
    const Vec3d along = centre * (1 / std::sqrt(dot(centre, centre)));
    Vec3d x = cross(along, {0.3, 0.5, 0.8});
    x = x * (1 / std::sqrt(dot(x, x)));
    const Vec3d y = cross(along, x);
    const Vec3d normal =
        along * cosine + (x * std::cos(turn) + y * std::sin(turn)) * std::sqrt(1 - cosine * cosine);
    Vec3d corners[3];
    for (int k = 0; k < 3; ++k) corners[k] = beams[k] * (dot(centre, normal) / dot(beams[k], normal));
    double longest = 0, shortest = HUGE_VAL;
    for (int k = 0; k < 3; ++k) {
      const Vec3d edge = corners[k] - corners[(k + 1) % 3];
      longest = std::max(longest, std::sqrt(dot(edge, edge)));
      shortest = std::min(shortest, std::sqrt(dot(edge, edge)));
    }
    return longest <= limits.lmax_m && longest <= limits.max_aspect_ratio * shortest;
  };
  int told = 0;
  for (int n = 0; n < 2000; ++n) {
    const Vec3d centre = beam(kPi * unit(), 2 * kPi * unit()) * 50.0;
    Vec3d beams[3];
    for (Vec3d& one : beams)
      one = centre + Vec3d{0.02 * (unit() - 0.5), 0.02 * (unit() - 0.5), 0.02 * (unit() - 0.5)};
    const double cosine = always_within(beams, limits);
    int above = 0, below = 0;
    for (int turn = 0; turn < 180; ++turn) {
      above += passes(beams, std::min(1.0, 1.03 * cosine), kPi * turn / 90);
      below += passes(beams, 0.97 * std::min(1.0, cosine), kPi * turn / 90);
    }
    if (cosine <= 1) {
      EXPECT_EQ(above, 180) << n;
      ++told;
    }
    EXPECT_LT(below, 180) << n << ' ' << cosine;
  }
  EXPECT_GT(told, 300);
}

TEST(TriangulatedProjection, IsTheSameForAnyNumberOfThreads) {
  const TriangleLimits limits{0.012, 4};
  const Leaves leaves = leaves_of(LeafAngleLaw::kSpherical, 3, limits);
  EXPECT_EQ(projections(leaves, limits, 1).weighed, projections(leaves, limits, 2).weighed);
}

TEST(TriangulatedProjection, TellsHowFarGMayBeOff) {
  const TriangleLimits limits{0.03, 6};
  const auto error_of = [&](LeafAngleLaw law, const Zeniths& range) {
    return of_triangles(leaves_of(law, 3, limits, range), limits).error;
  };
  const ProjectionError seen = error_of(LeafAngleLaw::kSpherical, {30, 60}),
                        hidden = error_of(LeafAngleLaw::kPlanophile, {85, 95});
  EXPECT_NEAR(seen.bias, kLeastBias, 0.002);
  EXPECT_GT(hidden.bias, 0.028);  // half of the area lies at inclinations that level beams do not see
  EXPECT_GT(seen.scatter[0], 0);
  // One voxel holds all leaves: it trusts its own less where it sees little of them.
  EXPECT_LT(seen.scatter[0], 1.5 * seen.of_all);
  EXPECT_GT(seen.scatter[0], 0.5 * seen.of_all);
  EXPECT_EQ(of_triangles({}, limits).error.scatter[0], 0);
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
  const TriangulatedProjection found = of_triangles(leaves, limits);
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

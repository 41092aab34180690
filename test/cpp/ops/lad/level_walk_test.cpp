#include "ops/lad/level_walk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

struct Chord {
  std::size_t voxel;
  double enter, leave;
  friend bool operator==(const Chord& a, const Chord& b) {
    return a.voxel == b.voxel && a.enter == b.enter && a.leave == b.leave;
  }
};

/// By the walk with a branch per plane.
std::vector<Chord> plain_walk(const VoxelLattice& lattice, const LatticeRay& ray, const VoxelBlock& block,
                              double end) {
  std::vector<Chord> out;
  walk_level(lattice, ray, block, [&](std::size_t column, std::uint32_t k, double enter, double leave) {
    if (end < enter) return false;
    out.push_back({column + k * lattice.layer(), enter, leave});
    return true;
  });
  return out;
}

std::vector<Chord> walk(const VoxelLattice& lattice, const LatticeRay& ray, const VoxelBlock& block,
                        double end) {
  std::vector<Chord> out;
  LevelWalk level(lattice, ray, block, end);
  VoxelChords chords;
  while (level.next(&chords))
    for (std::size_t n = 0; n < chords.count; ++n)
      if (chords.enter[n] < chords.leave[n])
        out.push_back({chords.voxel[n], chords.enter[n], chords.leave[n]});
  return out;
}

Vec3d unit(const Vec3d& v) { return v * (1 / std::sqrt(dot(v, v))); }

TEST(LevelWalk, HasTheVoxelsAndTheBitsOfTheWalkPlaneByPlane) {
  const VoxelLattice lattice{{0.25, 0.5, 0.125}, 60, 37, 90, {}, {}, 0, 0};
  const VoxelBlock whole{{0, 0, 0}, {60, 37, 90}}, slab{{20, 0, 0}, {41, 37, 90}};
  std::size_t voxels = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const auto draw = [&](std::uint64_t k) { return random_unit(1, 16 * i + k); };
    const Vec3d from{40 * draw(0) - 12, 40 * draw(1) - 10, 30 * draw(2) - 9};
    Vec3d to{15 * draw(3), 18.5 * draw(4), 11.25 * draw(5)};
    if (i % 5 == 0) to.x = from.x;  // parallel to a plane
    if (i % 7 == 0) to.z = from.z;
    const double end = i % 3 == 0 ? HUGE_VAL : i % 3 == 1 ? 30 * draw(6) : 0;
    const LatticeRay ray{from, unit(to - from)};
    for (const VoxelBlock& block : {whole, slab}) {
      const std::vector<Chord> expected = plain_walk(lattice, ray, block, end);
      ASSERT_EQ(walk(lattice, ray, block, end), expected) << i;
      voxels += expected.size();
    }
  }
  EXPECT_GT(voxels, 150'000U);
}

TEST(LevelWalk, RaysAlongEdgesAndThroughCorners) {
  const VoxelLattice lattice{{1, 1, 1}, 50, 50, 50, {}, {}, 0, 0};
  const VoxelBlock whole{{0, 0, 0}, {50, 50, 50}};
  for (const Vec3d& direction :
       {Vec3d{1, 1, 1}, Vec3d{1, 1, 0}, Vec3d{-1, 1, -1}, Vec3d{1, 0, 0}, Vec3d{0, 0, -1}}) {
    for (const Vec3d& through : {Vec3d{25, 25, 25}, Vec3d{25.5, 25, 25.5}, Vec3d{0, 0, 0}}) {
      const LatticeRay ray{through - direction * 60, unit(direction)};
      EXPECT_EQ(walk(lattice, ray, whole, HUGE_VAL), plain_walk(lattice, ray, whole, HUGE_VAL));
    }
  }
}

}  // namespace
}  // namespace pc

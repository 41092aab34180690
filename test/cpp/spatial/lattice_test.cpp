#include "spatial/lattice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace pc {

namespace {

const Box3d kBox{{100, -20, 3}, {117.3, 4.9, 8}};

TEST(Lattice, CoversItsBoxWithAMarginOnEachSide) {
  for (const std::uint32_t margin : {1U, 2U}) {
    const Lattice lattice = lattice_over(kBox, 0.5, margin, {0, 0, 0});
    const CellPosition first = lattice.position_of(kBox.min), last = lattice.position_of(kBox.max);
    EXPECT_EQ(first.u, margin);
    EXPECT_EQ(first.v, margin);
    EXPECT_LE(last.u, lattice.nx - 1);  // the last point has a patch
    EXPECT_LE(last.v, lattice.ny - 1);
    EXPECT_LE(std::round(last.u) + (margin == 1 ? 1 : 0), lattice.nx - 1);
    EXPECT_LE(std::round(last.v) + (margin == 1 ? 1 : 0), lattice.ny - 1);
    EXPECT_EQ(lattice.cells(), std::size_t{lattice.nx} * lattice.ny);
  }
}

TEST(Lattice, PutsAPointIntoTheCellOfTheNearestCentre) {
  const Lattice lattice = lattice_over(kBox, 0.5, 2, {0, 0, 0});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Vec3d p{100 + 17.3 * random_unit(1, i), -20 + 24.9 * random_unit(2, i), 0};
    const std::size_t cell = lattice.cell_of(p);
    const double x = lattice.x_min + (static_cast<double>(cell % lattice.nx) - lattice.pad) * lattice.size;
    const double y = lattice.y_min + (static_cast<double>(cell / lattice.nx) - lattice.pad) * lattice.size;
    EXPECT_LE(std::abs(p.x - x), 0.25 + 1e-12);
    EXPECT_LE(std::abs(p.y - y), 0.25 + 1e-12);
    const LatticePatch patch = lattice.patch_of(p);
    EXPECT_NEAR(lattice.x_min + (patch.i + patch.fu - lattice.pad) * lattice.size, p.x, 1e-6);
    EXPECT_NEAR(lattice.y_min + (patch.j + patch.fv - lattice.pad) * lattice.size, p.y, 1e-6);
    EXPECT_TRUE(patch.fu >= 0 && patch.fu <= 1 && patch.fv >= 0 && patch.fv <= 1);
  }
}

TEST(Lattice, MeasuresHeightsFromItsPlane) {
  const Lattice lattice = lattice_over(kBox, 0.5, 1, {3, 0.25, -0.5});
  EXPECT_EQ(lattice.height_of({100, -20, 3}), 0.0F);
  EXPECT_EQ(lattice.height_of({104, -18, 5}), 2.0F);
  EXPECT_EQ(lattice.plane().slope_y, -0.5);
}

TEST(Lattice, AShiftOfThePointsAndTheBoxChangesNothing) {
  const Vec3d shift{1 << 20, -(1 << 21), 1 << 10};
  const Lattice here = lattice_over(kBox, 0.5, 1, {3, 0.25, -0.5});
  const Lattice there = lattice_over({kBox.min + shift, kBox.max + shift}, 0.5, 1, {3 + shift.z, 0.25, -0.5});
  EXPECT_EQ(here.nx, there.nx);
  for (std::uint64_t i = 0; i < 100; ++i) {
    // On a grid of 2^-10 m the shift is exact.
    const Vec3d p{100 + static_cast<double>(random_u64(1, i) % 17000) / 1024,
                  -20.0 + static_cast<double>(i) / 8, static_cast<double>(i) / 64};
    EXPECT_EQ(here.cell_of(p), there.cell_of(p + shift));
    EXPECT_EQ(here.height_of(p), there.height_of(p + shift));
  }
}

}  // namespace

}  // namespace pc

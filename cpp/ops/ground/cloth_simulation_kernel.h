#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/atomic.h"
#include "core/float_bits.h"
#include "core/host_device.h"
#include "core/span.h"
#include "core/vec3.h"
#include "spatial/lattice.h"

/// Per-point and per-particle code for CPU and GPU. Heights of terrain and cloth are float32, inverted (larger = lower)
/// and relative to the plane of their Lattice.
namespace pc::cloth_kernel {

constexpr std::uint64_t kNoNearest = 0xffffffffffffffffULL;

/// Points at or below the floor of their cell are low outliers.
struct OutlierFloor {
  Lattice lattice;
  const float* floor;  ///< (lattice.cells()); nullptr = no outliers

  PC_HD bool below(const Vec3d& p) const {
    return floor != nullptr && lattice.height_of(p) <= floor[lattice.cell_of(p)];
  }
};

/// A pass over the points that computes the terrain under the cloth. All pointers are of one device.
struct RasterPass {
  const Vec3d* points;
  OutlierFloor outliers;
  Lattice lattice;
  float band;             ///< points up to this height above their cell's lowest count as terrain
  std::uint32_t* lowest;  ///< (lattice.cells()) key of the lowest point
  std::uint64_t*
      nearest;  ///< (lattice.cells()) squared distance from the node (high half), key of height (low half)
};

/// Input of pc_cuda: a pass in host memory and the lengths of its arrays.
struct HostRaster {
  RasterPass pass;
  std::uint64_t count;
  std::uint64_t floor_count;
};

PC_HD inline void offer_lowest(std::size_t i, const RasterPass& pass) {
  const Vec3d p = pass.points[i];
  if (!is_finite(p) || pass.outliers.below(p)) return;
  atomic_min(pass.lowest + pass.lattice.cell_of(p), ordered_bits(pass.lattice.height_of(p)));
}

/// Offers point i as the point nearest to its node, if it is within `band` of the cell's lowest; of equally near points
/// the lowest wins.
PC_HD inline void offer_nearest(std::size_t i, const RasterPass& pass) {
  const Vec3d p = pass.points[i];
  if (!is_finite(p)) return;
  const std::size_t cell = pass.lattice.cell_of(p);
  const float height = pass.lattice.height_of(p);
  const float lowest = float_of_ordered(pass.lowest[cell]);  // NaN if every point is an outlier
  if (!(height >= lowest && height <= lowest + pass.band)) return;
  const CellPosition at = pass.lattice.position_of(p);
  const double du = at.u - static_cast<double>(static_cast<std::uint32_t>(at.u + 0.5));
  const double dv = at.v - static_cast<double>(static_cast<std::uint32_t>(at.v + 0.5));
  const auto squared = static_cast<float>(du * du + dv * dv);
  atomic_min(pass.nearest + cell, static_cast<std::uint64_t>(bits_of(squared)) << 32 | ordered_bits(height));
}

// Time step of Zhang et al. 2016 section 3; gravity and damping as in the authors' published program.
constexpr float kTimeStep = 0.65F, kGravity = 0.2F, kDamping = 0.01F;
/// Displacement by gravity in one step, metres.
constexpr float kFall = kGravity * kTimeStep * kTimeStep;
/// The cloth starts this far above the highest inverted terrain, metres.
constexpr float kStartAbove = 0.05F;
/// A step is quiet if no free particle moves more than this, metres.
constexpr float kSettled = 0.005F;
/// Quiet steps in a row after which the cloth is settled: a swinging cloth is quiet for one at its turning points.
constexpr std::uint32_t kQuietSteps = 3;

/// A particle above the terrain moves; a particle on or below it does not.
PC_HD inline bool is_free(float height, float ground) { return height > ground; }

/// Height of a free particle after gravity and inertia (eq. 4, Verlet).
PC_HD inline float fall(float height, float previous, float ground) {
  return is_free(height, ground) ? height + (height - previous) * (1.0F - kDamping) - kFall : height;
}

/// One relaxation of a particle towards the mean of the 16 particles it is tied to: 8 adjacent ones and 8 two cells
/// away (structural and bending springs). `free` is 1, or 0 for a particle on the terrain. `rows` point to the
/// particle's column in the five rows from two above to two below.
PC_HD inline float relax(const float* const rows[5], std::ptrdiff_t x, float free) {
  const float near = ((rows[1][x - 1] + rows[1][x]) + (rows[1][x + 1] + rows[2][x - 1])) +
                     ((rows[2][x + 1] + rows[3][x - 1]) + (rows[3][x] + rows[3][x + 1]));
  const float far = ((rows[0][x - 2] + rows[0][x]) + (rows[0][x + 2] + rows[2][x - 2])) +
                    ((rows[2][x + 2] + rows[4][x - 2]) + (rows[4][x] + rows[4][x + 2]));
  const float height = rows[2][x];
  return height + free * ((near + far) * 0.0625F - height);
}

/// relax() of the particle at (x, y) of a grid; beyond its edges the cloth continues level.
PC_HD inline float relax_at(const float* heights, std::uint32_t nx, std::uint32_t ny, std::uint32_t x,
                            std::uint32_t y, float free) {
  float near[5][5];
  const float* rows[5];
  for (int b = 0; b < 5; ++b) {
    const std::int64_t v = static_cast<std::int64_t>(y) + b - 2;
    const std::int64_t row = v < 0 ? 0 : v >= ny ? ny - 1 : v;
    for (int a = 0; a < 5; ++a) {
      const std::int64_t u = static_cast<std::int64_t>(x) + a - 2;
      near[b][a] = heights[row * nx + (u < 0 ? 0 : u >= nx ? nx - 1 : u)];
    }
    rows[b] = near[b];
  }
  return relax(rows, 2, free);
}

/// State of a particle at the end of a step.
struct Landing {
  float height;
  float moved;  ///< metres in this step; 0 if it lies on the terrain
};

/// Ends a step: raises a particle below the terrain onto it. `relaxed` is its height after the relaxations, `before`
/// that at the start of the step.
PC_HD inline Landing land(float relaxed, float before, float ground) {
  const bool free = is_free(relaxed, ground);
  return {free ? relaxed : ground, free ? fabsf(relaxed - before) : 0.0F};
}

/// Input and output of pc_cuda: a cloth over a window of inverted terrain, in host memory.
struct HostDrop {
  const float* terrain;  ///< row y starts at terrain + y * stride
  std::uint64_t stride;
  std::uint32_t nx, ny;
  std::uint32_t sweeps, iterations;
  float start;
  float* height;                 ///< (nx ny) out
  std::uint32_t iterations_run;  ///< out
  bool settled;                  ///< out
};

/// Counts consecutive steps without much movement: settled after kQuietSteps, or at once if no particle is free.
struct QuietSteps {
  std::uint32_t count;

  PC_HD bool settled_after(float furthest) {
    count = furthest < kSettled ? count + 1 : 0;
    return furthest == 0 || count == kQuietSteps;
  }
};

/// How the drop of a cloth ended.
struct Drop {
  std::uint32_t steps;
  bool settled;
};

/// Runs steps of the whole cloth until it is settled, at most `iterations`; step() returns the largest movement of a
/// free particle.
template <class Step>
Drop drop_until_settled(std::uint32_t iterations, Step&& step) {
  Drop drop{0, false};
  QuietSteps quiet{0};
  while (drop.steps < iterations && !drop.settled) {
    drop.settled = quiet.settled_after(step());
    drop.steps += 1;
  }
  return drop;
}

/// Height of the settled cloth at a point of the lattice's extent: bilinear, above the lattice's plane, not inverted.
PC_HD inline float cloth_height(const Lattice& lattice, const float* cloth, const Vec3d& p) {
  const LatticePatch at = lattice.patch_of(p);
  const float* const a = cloth + static_cast<std::size_t>(at.j) * lattice.nx + at.i;
  const float* const b = a + lattice.nx;
  const float low = a[0] + at.fu * (a[1] - a[0]), high = b[0] + at.fu * (b[1] - b[0]);
  return -(low + at.fv * (high - low));
}

}  // namespace pc::cloth_kernel

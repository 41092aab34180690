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

/// A pass over the points that finds the lowest of every cell.
struct LowestPass {
  const Vec3d* points;
  OutlierFloor outliers;
  Lattice lattice;
  std::uint32_t* lowest;  ///< (lattice.cells()) key of the lowest point
};

PC_HD inline void offer_lowest(std::size_t i, const LowestPass& pass) {
  const Vec3d p = pass.points[i];
  if (!is_finite(p) || pass.outliers.below(p)) return;
  atomic_min(pass.lowest + pass.lattice.cell_of(p), ordered_bits(pass.lattice.height_of(p)));
}

/// A pass over the points that computes the terrain under the cloth. All pointers are of one device.
struct RasterPass {
  const Vec3d* points;
  OutlierFloor outliers;
  Lattice lattice;
  std::uint64_t*
      nearest;  ///< (lattice.cells()) squared distance from the node (high half), key of height (low half)
};

/// Input of pc_cuda: a pass in host memory and the lengths of its arrays.
struct HostRaster {
  RasterPass pass;
  std::uint64_t count;
  std::uint64_t floor_count;
};

/// Offers point i as the point nearest to its node; of equally near points the lowest wins.
PC_HD inline void offer_nearest(std::size_t i, const RasterPass& pass) {
  const Vec3d p = pass.points[i];
  if (!is_finite(p) || pass.outliers.below(p)) return;
  const CellPosition at = pass.lattice.position_of(p);
  const double du = at.u - static_cast<double>(static_cast<std::uint32_t>(at.u + 0.5));
  const double dv = at.v - static_cast<double>(static_cast<std::uint32_t>(at.v + 0.5));
  const auto squared = static_cast<float>(du * du + dv * dv);
  atomic_min(pass.nearest + pass.lattice.cell_of(p),
             static_cast<std::uint64_t>(bits_of(squared)) << 32 | ordered_bits(pass.lattice.height_of(p)));
}

// Zhang et al. 2016 section 3 and the authors' published program.
constexpr float kTimeStep = 0.65F, kGravity = 0.2F, kDamping = 0.01F;
/// Displacement by gravity in one step, metres: the program scales gravity by the squared time step twice.
constexpr float kFall = kGravity * kTimeStep * kTimeStep * kTimeStep * kTimeStep;
/// The cloth starts this far above the highest inverted point, metres.
constexpr float kStartAbove = 0.05F;
/// The cloth is settled after a step in which no free particle moves this far, metres.
constexpr float kSettled = 0.005F;

/// Shares of the difference in height of two tied particles that are corrected at once. After `rigidness` corrections of
/// 0.3 of the difference: 1 - 0.7^n of one particle that is free, (1 - 0.4^n) / 2 of each of two.
struct Stiffness {
  float both, one;
};

PC_HD inline Stiffness stiffness_of(std::uint32_t rigidness) {
  return rigidness == 1   ? Stiffness{0.3F, 0.3F}
         : rigidness == 2 ? Stiffness{0.42F, 0.51F}
                          : Stiffness{0.468F, 0.657F};
}

/// Share by which a particle moves a free one: above 0 for a free particle, below 0 for one on the terrain, 0 beyond
/// the edges of the cloth, where nothing pulls.
PC_HD inline bool is_free(float grip) { return grip > 0; }

/// A particle's height and the one before.
struct Motion {
  float height, previous;
};

/// Gravity and inertia of one step (eq. 4, Verlet).
PC_HD inline Motion fall(const Motion& at, float grip) {
  if (!is_free(grip)) return at;
  return {at.height + (at.height - at.previous) * (1.0F - kDamping) - kFall, at.height};
}

struct Pair {
  float height, other;
};

/// Corrects the heights of two tied particles.
PC_HD inline Pair pull(float height, float grip, float other, float other_grip) {
  const float apart = other - height;
  const float own = apart * fabsf(other_grip), others = apart * fabsf(grip);
  return {height + (is_free(grip) ? own : 0.0F), other - (is_free(other_grip) ? others : 0.0F)};
}

/// The particles that one is tied to, in the order in which the ties are corrected: the 8 around it, then the 8 at twice
/// the distance (structural, shear and bending springs). Particles take turns row by row, each with all its ties.
constexpr int kTies = 16;
struct Tie {
  int dx, dy;
};
PC_HD constexpr Tie tie(int i) {
  constexpr Tie kAround[8] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {1, -1}, {1, 0}, {0, 1}, {1, 1}};
  const int far = i < 8 ? 1 : 2;
  return {kAround[i % 8].dx * far, kAround[i % 8].dy * far};
}
constexpr int kReach = 2;  ///< cells to the farthest tied particle
constexpr int kRowDelay =
    5;  ///< particles of x + kRowDelay y = constant share no tied one: they are corrected at once

/// A cloth of nx by ny particles, row by row.
struct ClothArrays {
  float *height, *previous, *grip;
  const float* ground;
  std::uint32_t nx, ny;
};

/// Corrects all ties of the particle at (x, y).
PC_HD inline void pull_ties(const ClothArrays& cloth, std::uint32_t x, std::uint32_t y) {
  const std::size_t at = y * static_cast<std::size_t>(cloth.nx) + x;
  float height = cloth.height[at];
  for (int i = 0; i < kTies; ++i) {
    const std::int64_t u = static_cast<std::int64_t>(x) + tie(i).dx,
                       v = static_cast<std::int64_t>(y) + tie(i).dy;
    if (u < 0 || v < 0 || u >= cloth.nx || v >= cloth.ny) continue;
    const auto other = static_cast<std::size_t>(v * cloth.nx + u);
    const Pair pair = pull(height, cloth.grip[at], cloth.height[other], cloth.grip[other]);
    height = pair.height;
    cloth.height[other] = pair.other;
  }
  cloth.height[at] = height;
}

/// State of a particle at the end of a step.
struct Landing {
  float height, grip;
  float moved;  ///< metres in this step, also by a particle that lands; 0 if it lay on the terrain
};

/// Ends a step: a particle below the terrain is raised onto it and stays there.
PC_HD inline Landing land(const Motion& at, float grip, float ground, const Stiffness& stiffness) {
  if (!is_free(grip)) return {at.height, grip, 0.0F};
  const float moved = fabsf(at.height - at.previous);
  return at.height < ground ? Landing{ground, -stiffness.one, moved} : Landing{at.height, grip, moved};
}

/// Input and output of pc_cuda: a cloth over a window of inverted terrain, in host memory.
struct HostDrop {
  const float* terrain;  ///< row y starts at terrain + y * stride
  std::uint64_t stride;
  std::uint32_t nx, ny;
  std::uint32_t rigidness, iterations;
  float start;
  float* height;                 ///< (nx ny) out
  std::uint32_t iterations_run;  ///< out
  bool settled;                  ///< out
};

/// How the drop of a cloth ended.
struct Drop {
  std::uint32_t steps;
  bool settled;
};

/// Drops a cloth until it is settled, at most `iterations` steps. Steps are made `most` at a time, so that several can
/// run at once; if the cloth settled before the last of them, they are undone and made again up to that one.
///
/// cloth   steps(count, furthest) makes steps and writes the largest movement of a free particle in each; keep() keeps
///         the state, undo() restores it
template <class Cloth>
Drop drop_until_settled(std::uint32_t iterations, std::uint32_t most, Cloth& cloth) {
  constexpr std::uint32_t kMost = 32;
  float furthest[kMost];
  most = most < kMost ? most : kMost;
  Drop drop{0, false};
  while (drop.steps < iterations && !drop.settled) {
    const std::uint32_t left = iterations - drop.steps, count = left < most ? left : most;
    if (count > 1) cloth.keep();
    cloth.steps(count, furthest);
    std::uint32_t made = 0;
    while (made < count && !drop.settled) drop.settled = furthest[made++] < kSettled;
    if (made < count) {
      cloth.undo();
      cloth.steps(made, furthest);
    }
    drop.steps += made;
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

#pragma once
#include <cstdint>

#include "core/gpu_run.h"
#include "core/memory.h"
#include "core/op_context.h"

namespace pc {

/// A rectangle of an inverted terrain; row y starts at height + y * stride.
struct TerrainWindow {
  const float* height;
  std::size_t stride;
  std::uint32_t nx, ny;
};

struct ClothDropParams {
  std::uint32_t sweeps;      ///< relaxations per step, see cloth_sweeps
  std::uint32_t iterations;  ///< maximum number of time steps
  float start;               ///< height of the cloth before it falls
};

struct DroppedCloth {
  BulkVector<float> height;  ///< (nx ny) inverted; equals the terrain's height where the cloth lies on it
  std::uint32_t iterations;  ///< time steps made
  bool settled;              ///< no free particle moved more than kSettled in three steps, or none is free
};

/// Relaxations per time step for a rigidness of 1 .. 3. The authors' published program moves the pairs of particles one
/// after the other, which cannot run in parallel with a reproducible result; here all particles move at once. With this
/// number of relaxations the cloth sags over gaps of 9 to 33 cells as in the pairwise scheme (33 cells: within 35 %;
/// test ClothDrop.SagsAsThePairwiseScheme).
std::uint32_t cloth_sweeps(std::uint32_t rigidness);

/// Drops a cloth on a window of inverted terrain until it settles. A particle that touches the terrain stays there.
///
/// Order    Bit-identical for any number of threads and either device: a step reads only the state before it.
/// Cost     About 25 ns per particle and step on one core at rigidness 3; 12 bytes per particle.
/// Cancel   Within 50 ms; no partial result.
/// Source   Zhang et al. 2016 sections 3.2 to 3.4: internal and external forces one after the other.
DroppedCloth drop_cloth(const TerrainWindow& terrain, const ClothDropParams& params, GpuRun& gpu,
                        OpContext& ctx);

}  // namespace pc

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
  std::uint32_t rigidness;   ///< 1 conforming .. 3 stiff
  std::uint32_t iterations;  ///< maximum number of time steps
  float start;               ///< height of the cloth before it falls
};

struct DroppedCloth {
  BulkVector<float> height;  ///< (nx ny) inverted; equals the terrain's height where the cloth lies on it
  std::uint32_t iterations;  ///< time steps made
  bool settled;              ///< no free particle moved kSettled in the last step, or none is free
};

/// Peak memory of drop_cloth without its result, bytes.
std::uint64_t cloth_drop_bytes(std::uint32_t nx, std::uint32_t ny);

/// Drops a cloth on a window of inverted terrain until it settles. A particle that touches the terrain stays there.
///
/// Order    Bit-identical for any number of threads and either device: the ties of the particles are corrected one after
///          the other, row by row, as the authors' published program does. Corrections that share no particle run at
///          once: those of 16 rows, each five particles behind the row before, and those of later time steps in rows
///          that the current step has left.
/// Cost     15 to 40 ns per falling particle and step on one core; a particle that lies costs less than half.
/// Cancel   Within 50 ms; no partial result.
/// Source   Zhang et al. 2016 sections 3.2 to 3.4: internal and external forces one after the other.
DroppedCloth drop_cloth(const TerrainWindow& terrain, const ClothDropParams& params, GpuRun& gpu,
                        OpContext& ctx);

}  // namespace pc

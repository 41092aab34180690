#include "ops/ground/cloth_drop.h"

#include "ops/ground/cloth_bands.h"
#include "ops/ground/cloth_simulation_kernel.h"

namespace pc {

namespace {

using namespace cloth_kernel;

/// Drops the cloth on the GPU; false if that is not possible.
bool drop_on_gpu(const TerrainWindow& terrain, const ClothDropParams& params, GpuRun& gpu,
                 DroppedCloth& cloth) {
  if (!gpu.usable()) return false;
  cloth.height.resize(static_cast<std::size_t>(terrain.nx) * terrain.ny);
  HostDrop host{terrain.height,    terrain.stride, terrain.nx,          terrain.ny, params.rigidness,
                params.iterations, params.start,   cloth.height.data(), 0,          false};
  const bool done = gpu.run([&](const auto& table, const auto& control, auto& error) {
    return table.cloth_drop(&host, &control, &error);
  });
  if (!done) return false;
  cloth.iterations = host.iterations_run;
  cloth.settled = host.settled;
  return true;
}

}  // namespace

std::uint64_t cloth_drop_bytes(std::uint32_t nx, std::uint32_t ny) { return ClothBands::bytes(nx, ny); }

DroppedCloth drop_cloth(const TerrainWindow& terrain, const ClothDropParams& params, GpuRun& gpu,
                        OpContext& ctx) {
  DroppedCloth on_gpu{{}, 0, false};
  if (drop_on_gpu(terrain, params, gpu, on_gpu)) return on_gpu;
  ClothBands cloth(terrain, params, ctx);
  const Drop drop = drop_until_settled(params.iterations, cloth.steps_at_a_time(), cloth);
  return {cloth.heights(), drop.steps, drop.settled};
}

}  // namespace pc

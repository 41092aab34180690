#pragma once
#include <string>
#include <vector>

#include "core/gpu.h"
#include "core/op_context.h"
#include "ops/ground/cloth_simulation_kernel.h"

namespace pc {

/// Runs the parts of a cloth simulation on the GPU when the context asks for it, until the first time that the GPU
/// cannot; then the caller does them on the CPU, and a warning says so.
class ClothDevice {
 public:
  ClothDevice(OpContext& ctx, std::vector<std::string>& warnings);

  bool usable() const { return table_ != nullptr; }
  /// False: not done, nothing changed.
  bool raster(const cloth_kernel::HostRaster& host);
  bool drop(cloth_kernel::HostDrop& host);

 private:
  bool done(GpuStatus status, const GpuError& error);

  OpContext& ctx_;
  std::vector<std::string>& warnings_;
  const GpuTable* table_ = nullptr;
};

}  // namespace pc

#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/gpu_table.h"
#include "core/op_context.h"

namespace pc {

/// What /api/device-info reports. Without a usable GPU everything but `reason` is empty or zero.
struct GpuInfo {
  bool present = false;  ///< a device that the module can use answered
  int device_count = 0;
  std::string name;             ///< of the first device
  std::string driver_version;   ///< highest CUDA version of the driver, "13.0"; empty when there is no driver
  std::string runtime_version;  ///< CUDA version of the module; empty when it was not loaded
  std::uint64_t total_bytes = 0;
  std::string reason;  ///< why there is no GPU path; empty when there is one
};

/// Loads the CUDA module `pc_cuda` that lies in `directory` (absolute, UTF-8; the folder of the addon or program) and
/// probes the device. Never throws for a missing or broken module or driver: that becomes the reason. Only the first
/// call looks; the module stays loaded until the process ends. Later calls return to it after gpu_install.
void gpu_load(const std::string& directory);

/// Uses `table` in place of the module; nullptr means none, with `reason` (not empty). For programs that bring a table
/// of their own, and for tests. Not while ops run.
void gpu_install(const GpuTable* table, const std::string& reason);

/// The module's table when a device is usable, else nullptr: see gpu_reason.
const GpuTable* gpu_table();
/// Why gpu_table() is nullptr; empty when it is not.
std::string gpu_reason();
GpuInfo gpu_info();

/// Memory of the first device, bytes.
struct GpuMemory {
  std::uint64_t free_bytes;
  std::uint64_t total_bytes;
};

/// Asks the device; empty when there is no usable one or it does not answer. Makes the CUDA context of the process
/// (some 100 MiB on the device), which gpu_load and gpu_info do not.
std::optional<GpuMemory> gpu_memory();

/// The device's exclusive slot: one op of the process at a time uses the GPU. Waits for it; a cancel ends the
/// wait within 50 ms with kCanceled.
class GpuSlot {
 public:
  explicit GpuSlot(OpContext& ctx);
  GpuSlot(const GpuSlot&) = delete;
  GpuSlot& operator=(const GpuSlot&) = delete;
  ~GpuSlot();
};

/// `ctx` as the module sees it. Lives as long as `ctx`.
GpuControl gpu_control(OpContext& ctx);

}  // namespace pc

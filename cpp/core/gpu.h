#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/gpu_table.h"
#include "core/op_context.h"

namespace pc {

/// What /api/device-info reports. Without a usable GPU all fields except `reason` are empty or zero.
struct GpuInfo {
  bool present = false;  ///< pc_cuda can use a device
  int device_count = 0;
  std::string name;             ///< of the first device
  std::string driver_version;   ///< highest CUDA version of the driver, "13.0"; empty without a driver
  std::string runtime_version;  ///< CUDA version of pc_cuda; empty if it was not loaded
  std::uint64_t total_bytes = 0;
  std::string reason;  ///< why the GPU is not usable; empty if it is
};

/// Loads the CUDA module `pc_cuda` from `directory` (absolute, UTF-8; the folder of the addon or program) and probes
/// the device. Never throws for a missing or broken module or driver: that becomes the reason. Only the first call
/// loads; the module stays loaded until the process ends. Later calls only undo gpu_install.
void gpu_load(const std::string& directory);

/// Uses `table` instead of the module; nullptr means no GPU, with `reason` (not empty). For programs with a table of
/// their own, and for tests. Must not be called while ops run.
void gpu_install(const GpuTable* table, const std::string& reason);

/// The module's table if a device is usable, otherwise nullptr: see gpu_reason.
const GpuTable* gpu_table();
/// Why gpu_table() is nullptr; empty if it is not.
std::string gpu_reason();
GpuInfo gpu_info();

/// Memory of the first device, bytes.
struct GpuMemory {
  std::uint64_t free_bytes;
  std::uint64_t total_bytes;
};

/// Asks the device; empty if there is no usable one or it does not answer. Creates the CUDA context of the process
/// (some 100 MiB on the device), which gpu_load and gpu_info do not.
std::optional<GpuMemory> gpu_memory();

/// Who else may use the device during a call.
enum class GpuShare : std::uint8_t {
  kAlone,   ///< nobody: calls that take device memory or Staging
  kBeside,  ///< other calls of this kind, which have what they need on the device: those of a scan's threads
};

/// Use of the device. The constructor waits for it, behind calls of the other kind that wait longer; a cancel ends the wait
/// within 50 ms with kCanceled.
class GpuSlot {
 public:
  explicit GpuSlot(OpContext& ctx, GpuShare share = GpuShare::kAlone);
  GpuSlot(const GpuSlot&) = delete;
  GpuSlot& operator=(const GpuSlot&) = delete;
  ~GpuSlot();

 private:
  GpuShare share_;
};

/// Progress and cancel of `ctx` in the form that pc_cuda uses. Valid as long as `ctx`.
GpuControl gpu_control(OpContext& ctx);

}  // namespace pc

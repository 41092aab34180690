#pragma once
#include <string>
#include <vector>

#include "core/gpu.h"
#include "core/op_context.h"

namespace pc {

/// Runs one call of the GPU table for a context that asks for the GPU: `call(table, control, error)` gives a GpuStatus.
/// False when it was not asked for or could not be; the latter is told in `warnings`, once, and the CPU does the work.
template <class Call>
bool run_on_gpu(OpContext& ctx, std::vector<std::string>& warnings, const Call& call) {
  if (ctx.device() != Device::kCuda) return false;
  const GpuTable* const table = gpu_table();
  std::string reason;
  if (table == nullptr) {
    reason = gpu_reason();
  } else {
    const GpuSlot slot(ctx);
    const GpuControl control = gpu_control(ctx);
    GpuError error{};
    const GpuStatus status = call(*table, control, error);
    ctx.checkpoint();
    if (status == GpuStatus::kOk) return true;
    reason = error.text;
  }
  warnings.push_back("Denoise ran on the CPU: " + reason);
  return false;
}

}  // namespace pc

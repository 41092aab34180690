#include "ops/ground/cloth_device.h"

namespace pc {

ClothDevice::ClothDevice(OpContext& ctx, std::vector<std::string>& warnings)
    : ctx_(ctx), warnings_(warnings) {
  if (ctx.device() != Device::kCuda) return;
  table_ = gpu_table();
  if (table_ == nullptr) warnings_.push_back("Cloth simulation ran on the CPU: " + gpu_reason());
}

bool ClothDevice::raster(const cloth_kernel::HostRaster& host) {
  if (!usable()) return false;
  const GpuSlot slot(ctx_);
  const GpuControl control = gpu_control(ctx_);
  GpuError error{};
  return done(table_->cloth_raster(&host, &control, &error), error);
}

bool ClothDevice::drop(cloth_kernel::HostDrop& host) {
  if (!usable()) return false;
  const GpuSlot slot(ctx_);
  const GpuControl control = gpu_control(ctx_);
  GpuError error{};
  return done(table_->cloth_drop(&host, &control, &error), error);
}

bool ClothDevice::done(GpuStatus status, const GpuError& error) {
  ctx_.checkpoint();
  if (status == GpuStatus::kOk) return true;
  warnings_.push_back(std::string("Cloth simulation ran on the CPU: ") + error.text);
  table_ = nullptr;
  return false;
}

}  // namespace pc

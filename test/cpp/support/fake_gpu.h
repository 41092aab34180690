#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "core/gpu.h"
#include "core/gpu_table.h"

/// Devices for tests: a table whose functions are plain loops, or the CUDA module.
namespace pc::test {

inline GpuStatus fake_probe(GpuProbe* out, GpuError*) {
  *out = GpuProbe{};
  out->device_count = 1;
  out->driver_version = 13000;
  std::snprintf(out->name, sizeof out->name, "functor");
  return GpuStatus::kOk;
}

/// A table without functions; set those that the op calls.
inline GpuTable fake_gpu_table() {
  GpuTable table{};
  table.abi_version = kGpuAbiVersion;
  table.table_bytes = sizeof(GpuTable);
  table.probe = fake_probe;
  return table;
}

/// What a device without memory answers.
inline GpuStatus no_gpu_memory(GpuError* error) {
  std::snprintf(error->text, sizeof error->text, "the GPU has no memory left");
  return GpuStatus::kOutOfMemory;
}

/// Loads the module beside the program. False: there is no device; then gpu_reason() says why.
inline bool load_cuda() {
#if defined(__linux__)
  gpu_load(std::filesystem::read_symlink("/proc/self/exe").parent_path().string());
#endif
  return gpu_table() != nullptr;
}

/// Tests that install tables; the last one is gone in the end.
class DeviceTest : public testing::Test {
 protected:
  void TearDown() override {
    if (installed_) gpu_install(nullptr, "the test is over");
  }
  void install(const GpuTable* table, const char* reason = "") {
    gpu_install(table, reason);
    installed_ = true;
  }

 private:
  bool installed_ = false;
};

}  // namespace pc::test

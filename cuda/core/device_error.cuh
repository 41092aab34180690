#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "core/gpu_table.h"

namespace pc::cuda {

/// Thrown only inside pc_cuda; guarded() converts it to a status at the boundary.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(cudaError_t code, const std::string& what) : std::runtime_error(what), code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

struct Canceled {};

/// Throws if a CUDA call failed; `action` completes "could not ...".
inline void check(cudaError_t code, const char* action) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clears errors that are not sticky
  throw DeviceError(code, std::string("the GPU could not ") + action + ": " + cudaGetErrorString(code));
}

inline void say(GpuError* error, const char* text) {
  std::snprintf(error->text, sizeof error->text, "%s", text);
}

/// Runs body and returns its status: no exception leaves pc_cuda.
template <class Body>
GpuStatus guarded(GpuError* error, Body&& body) noexcept {
  error->text[0] = '\0';
  try {
    body();
    return GpuStatus::kOk;
  } catch (const Canceled&) {
    say(error, "canceled");
    return GpuStatus::kCanceled;
  } catch (const DeviceError& e) {
    say(error, e.what());
    return e.code() == cudaErrorMemoryAllocation ? GpuStatus::kOutOfMemory : GpuStatus::kFailed;
  } catch (const std::bad_alloc&) {
    say(error, "not enough memory for the GPU module");
    return GpuStatus::kOutOfMemory;
  } catch (const std::exception& e) {
    say(error, e.what());
    return GpuStatus::kFailed;
  } catch (...) {
    say(error, "unknown failure in the GPU module");
    return GpuStatus::kFailed;
  }
}

}  // namespace pc::cuda

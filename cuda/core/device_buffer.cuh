#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/device_error.cuh"
#include "core/staging.cuh"

namespace pc::cuda {

/// Plain copies are made in pieces of this many bytes, with a cancel check between them (about 10 ms each on PCIe 3).
constexpr std::size_t kCopyBytes = std::size_t{64} << 20;

inline void poll(const GpuControl& control) {
  if (control.canceled(control.user)) throw Canceled{};
}

/// Throws cudaErrorMemoryAllocation unless `bytes` fit in free device memory and leave 5 % of all memory free.
inline void reserve_check(std::uint64_t bytes) {
  std::size_t free_bytes = 0, total_bytes = 0;
  const cudaError_t code = cudaMemGetInfo(&free_bytes, &total_bytes);
  if (code == cudaErrorMemoryAllocation) {  // there is none for the context of the process
    cudaGetLastError();
    throw DeviceError(code, "the GPU has no memory left; other programs use it");
  }
  check(code, "tell its free memory");
  if (bytes + total_bytes / 20 > free_bytes) {
    throw DeviceError(cudaErrorMemoryAllocation,
                      "the GPU has " + std::to_string(free_bytes >> 20) + " MiB free, needed " +
                          std::to_string((bytes >> 20) + 1) + " MiB and 5 % to spare");
  }
}

/// Owns `size` elements of device memory. Move-only.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (size != 0) check(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)), "give memory");
  }
  DeviceBuffer(const T* host, std::size_t size, const GpuControl& control) : DeviceBuffer(size) {
    upload(host, size, control);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void upload(const T* host, std::size_t count, const GpuControl& control) {
    copy(data_, host, count, cudaMemcpyHostToDevice, control);
  }
  void download(T* host, std::size_t count, const GpuControl& control) const {
    copy(host, data_, count, cudaMemcpyDeviceToHost, control);
  }

 private:
  static void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind, const GpuControl& control) {
    Staging& staging = Staging::instance();
    if (staging.serves(count * sizeof(T))) {
      if (kind == cudaMemcpyHostToDevice) return staging.upload(to, from, count * sizeof(T), control);
      return staging.download(to, from, count * sizeof(T), control);
    }
    constexpr std::size_t kPiece = kCopyBytes / sizeof(T);
    for (std::size_t done = 0; done < count; done += kPiece) {
      poll(control);
      const std::size_t piece = std::min(kPiece, count - done);
      check(cudaMemcpy(to + done, from + done, piece * sizeof(T), kind), "copy data");
    }
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pc::cuda

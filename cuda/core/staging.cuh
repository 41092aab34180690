#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "core/device_error.cuh"

namespace pc::cuda {

/// Page-locked memory through which large arrays are copied, several times as fast as from or to pageable memory: while one
/// piece is on the link, the threads of the op copy the next one. One for the process: an op at a time uses the device
/// (GpuSlot). An upload may end before its last pieces arrive: what runs on the default stream waits for them, other streams do
/// not. Where no memory can be locked, copies are plain.
class Staging {
 public:
  static Staging& instance() {
    static Staging* const instance = new Staging;  // never destroyed: the driver may be gone before
    return *instance;
  }

  /// False for few bytes, which a plain copy sends as fast.
  bool serves(std::size_t bytes) { return bytes >= 2 * kLeastPiece && open(); }

  void upload(void* to, const void* from, std::size_t bytes, const GpuControl& control) {
    const std::size_t piece = piece_of(bytes);
    std::size_t slot = 0;
    for (std::size_t done = 0; done < bytes; done += piece, slot = 1 - slot) {
      poll(control);
      const std::size_t count = std::min(piece, bytes - done);
      wait(slot);
      control.copy(control.user, memory_[slot], static_cast<const char*>(from) + done, count);
      send(static_cast<char*>(to) + done, memory_[slot], count, cudaMemcpyHostToDevice, slot);
    }
  }

  void download(void* to, const void* from, std::size_t bytes, const GpuControl& control) {
    const std::size_t piece = piece_of(bytes);
    const auto start = [&](std::size_t at) {
      if (at >= bytes) return;
      const std::size_t slot = at / piece % 2;
      wait(slot);  // a canceled copy may have left one under way
      send(memory_[slot], static_cast<const char*>(from) + at, std::min(piece, bytes - at),
           cudaMemcpyDeviceToHost, slot);
    };
    start(0);
    for (std::size_t done = 0; done < bytes; done += piece) {
      poll(control);
      start(done + piece);
      const std::size_t slot = done / piece % 2;
      wait(slot);
      control.copy(control.user, static_cast<char*>(to) + done, memory_[slot], std::min(piece, bytes - done));
    }
  }

 private:
  static constexpr std::size_t kMostPiece = std::size_t{16} << 20, kLeastPiece = std::size_t{2} << 20;

  /// At least four pieces, so that copies overlap.
  static std::size_t piece_of(std::size_t bytes) {
    return std::clamp((bytes / 4 + 4095) / 4096 * 4096, kLeastPiece, kMostPiece);
  }
  static void poll(const GpuControl& control) {
    if (control.canceled(control.user)) throw Canceled{};
  }
  void wait(std::size_t slot) const { check(cudaEventSynchronize(done_[slot]), "finish a copy"); }
  void send(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, std::size_t slot) const {
    check(cudaMemcpyAsync(to, from, bytes, kind, nullptr), "copy data");
    check(cudaEventRecord(done_[slot], nullptr), "copy data");
  }

  bool open() {
    if (tried_) return usable_;
    tried_ = true;
    usable_ = true;
    for (std::size_t slot = 0; slot < 2; ++slot) {
      usable_ = usable_ &&
                cudaMallocHost(reinterpret_cast<void**>(&memory_[slot]), kMostPiece) == cudaSuccess &&
                cudaEventCreateWithFlags(&done_[slot], cudaEventDisableTiming) == cudaSuccess;
    }
    if (!usable_) {  // too little memory to lock is no error of the op
      cudaFreeHost(memory_[0]);
      cudaFreeHost(memory_[1]);
      cudaGetLastError();
    }
    return usable_;
  }

  char* memory_[2] = {nullptr, nullptr};
  cudaEvent_t done_[2] = {};
  bool tried_ = false, usable_ = false;
};

}  // namespace pc::cuda

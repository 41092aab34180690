#pragma once
#include <cuda_runtime.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device_buffer.cuh"

namespace pc::cuda {

/// A stream with page-locked and device memory for small pieces of work: what one thread sends while others compute.
class Lane {
 public:
  static constexpr std::size_t kInBytes = std::size_t{1} << 20, kOutBytes = kInBytes;

  Lane() : in_(kInBytes), out_(kOutBytes) {
    check(cudaMallocHost(reinterpret_cast<void**>(&host_), kInBytes + kOutBytes), "lock memory");
    if (const cudaError_t code = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
        code != cudaSuccess) {
      cudaFreeHost(host_);
      check(code, "make a stream");
    }
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    cudaStreamDestroy(stream_);
    cudaFreeHost(host_);
  }

  cudaStream_t stream() const { return stream_; }
  char* host_in() const { return host_; }
  const char* host_out() const { return host_ + kInBytes; }
  char* in() const { return in_.data(); }
  char* out() const { return out_.data(); }

  /// Starts the copy of the first bytes of host_in() to in().
  void send(std::size_t bytes) const {
    check(cudaMemcpyAsync(in_.data(), host_, bytes, cudaMemcpyHostToDevice, stream_), "copy data");
  }
  /// Copies the first bytes of out() to host_out(), after all that the stream does, and waits.
  void receive(std::size_t bytes) const {
    check(cudaMemcpyAsync(host_ + kInBytes, out_.data(), bytes, cudaMemcpyDeviceToHost, stream_),
          "copy data");
    check(cudaStreamSynchronize(stream_), "finish a computation");
  }

 private:
  DeviceBuffer<char> in_, out_;
  char* host_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// The lanes of the process: as many as have been used at once, at most kMost. Kept, because locking memory takes longer than
/// what a lane does.
class Lanes {
 public:
  /// Use of a lane. The constructor waits for one.
  class Use {
   public:
    Use() : lane_(instance().take()) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { instance().give(std::move(lane_)); }
    const Lane& lane() const { return *lane_; }

   private:
    std::unique_ptr<Lane> lane_;
  };

 private:
  static constexpr std::size_t kMost = 16;

  static Lanes& instance() {
    static Lanes* const instance = new Lanes;  // never destroyed: the driver may be gone before
    return *instance;
  }
  std::unique_ptr<Lane> take() {
    std::unique_lock<std::mutex> lock(mutex_);
    given_back_.wait(lock, [&] { return !free_.empty() || made_ < kMost; });
    if (free_.empty()) {
      auto made = std::make_unique<Lane>();
      ++made_;
      return made;
    }
    auto lane = std::move(free_.back());
    free_.pop_back();
    return lane;
  }
  void give(std::unique_ptr<Lane> lane) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(lane));
    given_back_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<Lane>> free_;
  std::size_t made_ = 0;
};

}  // namespace pc::cuda

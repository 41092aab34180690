#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/platform.h"

namespace pc::io {

/// Appends blocks to the file in their order: a worker that is done early waits for the blocks before its
/// own, of which every one is being formatted, because blocks are handed out in order.
class OrderedOutput {
 public:
  OrderedOutput(platform::File& file, std::uint64_t start) : file_(file), end_(start) {}

  /// Gives up without writing when another worker has failed.
  void append(std::size_t block, const char* data, std::size_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    turn_.wait(lock, [&] { return failed_ || next_block_ == block; });
    if (failed_) return;
    if (bytes != 0) file_.write_at(end_, data, bytes);
    end_ += bytes;
    ++next_block_;
    turn_.notify_all();
  }
  void fail() {
    const std::lock_guard<std::mutex> lock(mutex_);
    failed_ = true;
    turn_.notify_all();
  }
  std::uint64_t end() const { return end_; }

 private:
  platform::File& file_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::size_t next_block_ = 0;
  std::uint64_t end_;
  bool failed_ = false;
};

}  // namespace pc::io

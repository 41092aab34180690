#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/platform.h"

namespace pc::io {

/// The bytes of one block, in memory that grows and is reused by its worker.
class BlockBuffer {
 public:
  /// Space for `bytes` more; valid until the next call.
  char* room(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes) {
      buffer_.resize(std::max({kFirstBytes, buffer_.size() * 2, used_ + bytes}));
    }
    return buffer_.data() + used_;
  }
  /// Ends the block at `end`, which lies within that space.
  void end_at(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.data()); }
  void clear() { used_ = 0; }
  const char* data() const { return buffer_.data(); }
  std::size_t size() const { return used_; }

 private:
  static constexpr std::size_t kFirstBytes = std::size_t{1} << 20;
  BulkVector<char> buffer_;
  std::size_t used_ = 0;
};

/// Passes blocks to a sink in their order. A worker that is early waits for the previous blocks; these are all being
/// formatted, because blocks are handed out in order.
template <class Sink>
class OrderedOutput {
 public:
  explicit OrderedOutput(Sink& sink) : sink_(sink) {}

  /// Returns without writing if another worker has failed.
  void append(std::size_t block, const char* data, std::size_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    turn_.wait(lock, [&] { return failed_ || next_block_ == block; });
    if (failed_) return;
    if (bytes != 0) sink_(data, bytes);
    ++next_block_;
    turn_.notify_all();
  }
  void fail() {
    const std::lock_guard<std::mutex> lock(mutex_);
    failed_ = true;
    turn_.notify_all();
  }

 private:
  Sink& sink_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::size_t next_block_ = 0;
  bool failed_ = false;
};

/// Passes the output of format(begin, end, buffer) for the blocks of [0, n) to sink(data, bytes) in order, one call at a
/// time. All threads format; the bytes do not depend on their number.
template <class Format, class Sink>
void append_in_order(std::size_t n, std::size_t grain, OpContext& ctx, Format&& format, Sink&& sink) {
  OrderedOutput output(sink);
  std::vector<BlockBuffer> buffers(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, n, grain, [&](std::size_t begin, std::size_t end, int worker) {
    try {
      BlockBuffer& buffer = buffers[static_cast<std::size_t>(worker)];
      buffer.clear();
      format(begin, end, buffer);
      output.append(begin / grain, buffer.data(), buffer.size());
    } catch (...) {
      output.fail();
      throw;
    }
  });
}

/// As append_in_order, into a file from byte `start` on; returns the end.
template <class Format>
std::uint64_t write_in_order(platform::File& file, std::uint64_t start, std::size_t n, std::size_t grain,
                             OpContext& ctx, Format&& format) {
  std::uint64_t end = start;
  append_in_order(n, grain, ctx, std::forward<Format>(format), [&](const char* data, std::size_t bytes) {
    file.write_at(end, data, bytes);
    end += bytes;
  });
  return end;
}

}  // namespace pc::io

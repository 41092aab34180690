#include "core/page_pool.h"

#include <algorithm>
#include <bit>

#include "core/platform.h"

namespace pc {

PageReuse::PageReuse(std::size_t bytes) : bytes_(bytes) { PagePool::shared().resize(bytes, 0); }
PageReuse::~PageReuse() { PagePool::shared().resize(0, bytes_); }

PagePool& PagePool::shared() {
  static auto* const pool = new PagePool;  // never destroyed: blocks are freed until the process ends
  return *pool;
}

std::size_t PagePool::rounded(std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (limit_ == 0 || bytes < kSmallest || bytes > kLargest) return bytes;
  const std::size_t step = std::max(platform::page_size(), std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

void* PagePool::take(std::size_t& bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::size_t i = count_; i-- > 0;) {  // newest first: its pages are in the caches
    if (blocks_[i].bytes < bytes || blocks_[i].bytes > bytes + bytes / 2) continue;
    const Block block = remove(i);
    bytes = block.bytes;
    return block.base;
  }
  return nullptr;
}

bool PagePool::give(void* base, std::size_t bytes) noexcept {
  for (;;) {
    Block oldest{};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (bytes < kSmallest || bytes > kLargest || bytes > limit_) return false;
      if (held_ + bytes <= limit_ && count_ < blocks_.size()) {
        blocks_[count_++] = {base, bytes};
        held_ += bytes;
        return true;
      }
      oldest = remove(0);
    }
    platform::release_pages(oldest.base, oldest.bytes);
  }
}

PagePool::Block PagePool::remove(std::size_t i) noexcept {
  const Block block = blocks_[i];
  std::copy(blocks_.begin() + i + 1, blocks_.begin() + count_, blocks_.begin() + i);
  --count_;
  held_ -= block.bytes;
  return block;
}

bool PagePool::empty() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool any = count_ > 0;
  release_beyond(0);
  return any;
}

void PagePool::resize(std::size_t more, std::size_t less) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  limit_ = limit_ + more - less;
  release_beyond(limit_);
}

void PagePool::release_beyond(std::size_t bytes) noexcept {
  while (held_ > bytes) {
    const Block block = blocks_[--count_];
    platform::release_pages(block.base, block.bytes);
    held_ -= block.bytes;
  }
}

std::size_t PagePool::held() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_;
}

}  // namespace pc

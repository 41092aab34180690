#include "core/memory.h"

#include <atomic>

#include "core/error.h"
#include "core/page_pool.h"
#include "core/platform.h"

namespace pc {

namespace {

std::atomic<std::uint64_t> in_use{0};
std::atomic<std::uint64_t> peak{0};

constexpr std::size_t kMaxBytes = std::size_t{1} << 46;  // beyond any supported address space

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

std::size_t checked_bytes(std::size_t count, std::size_t element_size) {
  if (element_size != 0 && count > kMaxBytes / element_size) {
    throw Error(ErrorCode::kOutOfMemory, "not enough memory for " + std::to_string(count) + " elements");
  }
  return count * element_size;
}

std::uint64_t bulk_bytes_in_use() { return in_use.load(); }
std::uint64_t bulk_bytes_peak() { return peak.load(); }
void reset_bulk_bytes_peak() { peak.store(in_use.load()); }

PageBlock PageBlock::allocate(std::size_t bytes) {
  PageBlock block;
  if (bytes == 0) return block;
  PagePool& pool = PagePool::shared();
  std::size_t mapped = pool.rounded(round_up(checked_bytes(bytes, 1), platform::page_size()));
  block.base_ = pool.take(mapped);
  if (block.base_ != nullptr) {
    std::memset(block.base_, 0, bytes);
  } else {
    block.base_ = platform::allocate_pages(mapped);
    if (block.base_ == nullptr && pool.empty()) block.base_ = platform::allocate_pages(mapped);
  }
  if (block.base_ == nullptr) {
    throw Error(ErrorCode::kOutOfMemory,
                "the system has no " + std::to_string(bytes >> 20) + " MiB of memory left");
  }
  block.mapped_ = mapped;
  block.data_ = static_cast<std::byte*>(block.base_);
  block.bytes_ = bytes;
  const std::uint64_t now = in_use.fetch_add(mapped) + mapped;
  std::uint64_t before = peak.load();
  while (now > before && !peak.compare_exchange_weak(before, now)) {
  }
  return block;
}

PageBlock PageBlock::map_file(const std::string& path, std::uint64_t offset, std::size_t bytes) {
  PageBlock block;
  block.file_backed_ = true;
  if (bytes == 0) return block;
  const std::uint64_t start = offset / platform::page_size() * platform::page_size();
  const auto lead = static_cast<std::size_t>(offset - start);
  block.base_ = platform::map_file_pages(path, start, lead + bytes);
  block.mapped_ = lead + bytes;
  block.data_ = static_cast<std::byte*>(block.base_) + lead;
  block.bytes_ = bytes;
  return block;
}

PageBlock::~PageBlock() {
  if (base_ == nullptr) return;
  if (file_backed_ || !PagePool::shared().give(base_, mapped_)) platform::release_pages(base_, mapped_);
  if (!file_backed_) in_use -= mapped_;
}

}  // namespace pc

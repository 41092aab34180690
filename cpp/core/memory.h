#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "core/span.h"

namespace pc {

/// One block of pages outside malloc and the JS heap: anonymous, or a read-only mapping of a file. Electron's allocator
/// kills the process on large blocks (docs/adr/0005); pages from the OS have no such limit. Move-only; the destructor
/// returns the pages to the OS at once (exception: page_pool.h).
class PageBlock {
 public:
  PageBlock() = default;
  /// Zero-filled pages. Throws kOutOfMemory, also for impossible sizes (overflow).
  static PageBlock allocate(std::size_t bytes);
  /// Maps [offset, offset + bytes) of a regular file read-only. `offset` need not be page-aligned.
  /// Throws kNotFound, kIo, or kInvalidFile if the file is shorter than offset + bytes.
  static PageBlock map_file(const std::string& path, std::uint64_t offset, std::size_t bytes);

  PageBlock(PageBlock&& other) noexcept { swap(other); }
  PageBlock& operator=(PageBlock&& other) noexcept {
    PageBlock(std::move(other)).swap(*this);
    return *this;
  }
  PageBlock(const PageBlock&) = delete;
  PageBlock& operator=(const PageBlock&) = delete;
  ~PageBlock();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  bool file_backed() const { return file_backed_; }

 private:
  void swap(PageBlock& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(file_backed_, other.file_backed_);
  }
  void* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool file_backed_ = false;
};

/// Multiplies with overflow check; throws kOutOfMemory.
std::size_t checked_bytes(std::size_t count, std::size_t element_size);

/// Bytes of anonymous pages held by all PageBlocks of the process; tests assert that it returns to its initial value.
std::uint64_t bulk_bytes_in_use();
/// Highest bulk_bytes_in_use() since the process started or reset_bulk_bytes_peak() was called.
std::uint64_t bulk_bytes_peak();
void reset_bulk_bytes_peak();

/// Growable array of trivially copyable elements in its own pages: for all scratch over 1 MiB. Elements added by
/// resize() are zero.
template <class T>
class BulkVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  BulkVector() = default;
  explicit BulkVector(std::size_t size) { resize(size); }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return block_.bytes() / sizeof(T); }
  bool empty() const { return size_ == 0; }
  T* data() { return reinterpret_cast<T*>(block_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(block_.data()); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& back() { return data()[size_ - 1]; }
  Span<T> view() { return {data(), size_}; }
  Span<const T> view() const { return {data(), size_}; }

  void reserve(std::size_t capacity_wanted);
  void resize(std::size_t size) {
    reserve(size);
    if (size < size_) zero(size, size_);
    size_ = size;
  }
  void push_back(const T& value) {
    if (size_ == capacity()) reserve(size_ < 512 ? 1024 : size_ + size_ / 2);
    data()[size_++] = value;
  }
  void clear() { resize(0); }
  /// Frees the pages.
  void reset() {
    block_ = PageBlock();
    size_ = 0;
  }

 private:
  void zero(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) data()[i] = T{};
  }
  PageBlock block_;
  std::size_t size_ = 0;
};

template <class T>
void BulkVector<T>::reserve(std::size_t capacity_wanted) {
  if (capacity_wanted <= capacity()) return;
  PageBlock grown = PageBlock::allocate(checked_bytes(capacity_wanted, sizeof(T)));
  if (size_ != 0) std::memcpy(grown.data(), block_.data(), size_ * sizeof(T));
  block_ = std::move(grown);
}

}  // namespace pc

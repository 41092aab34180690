#pragma once
#include <array>
#include <cstddef>
#include <mutex>

namespace pc {

/// While an object of this class exists, the process keeps up to `bytes` of freed pages for later blocks. For
/// operations of hundreds of small steps: the system clears every page it hands out, which costs more than the step.
/// The limits of several objects add up. The pages are returned to the system when the last object is destroyed.
class PageReuse {
 public:
  explicit PageReuse(std::size_t bytes);
  ~PageReuse();
  PageReuse(const PageReuse&) = delete;
  PageReuse& operator=(const PageReuse&) = delete;

 private:
  std::size_t bytes_;
};

/// Freed blocks of pages that wait for reuse. Thread-safe.
class PagePool {
 public:
  static PagePool& shared();
  /// Bytes to request from the system if `bytes` (whole pages) are needed: few distinct sizes make blocks reusable.
  std::size_t rounded(std::size_t bytes);
  /// A block of that size or up to half as large again, with its previous contents; nullptr if there is none. Sets
  /// `bytes` to its size.
  void* take(std::size_t& bytes);
  /// Keeps a block, replacing blocks that were not reused for long. False if the pool does not keep it; the caller then
  /// returns it to the system.
  bool give(void* base, std::size_t bytes) noexcept;
  /// Returns all blocks to the system; false if there were none.
  bool empty() noexcept;
  /// Changes how much the pool may keep; returns the excess to the system.
  void resize(std::size_t more, std::size_t less) noexcept;
  std::size_t held();

 private:
  static constexpr std::size_t kSmallest = std::size_t{4} << 10, kLargest = std::size_t{16} << 20;
  struct Block {
    void* base;
    std::size_t bytes;
  };
  Block remove(std::size_t i) noexcept;
  void release_beyond(std::size_t bytes) noexcept;

  std::mutex mutex_;
  std::array<Block, 256> blocks_{};  ///< in order of arrival
  std::size_t count_ = 0, held_ = 0, limit_ = 0;
};

}  // namespace pc

#pragma once
#include <array>
#include <cstddef>
#include <mutex>

namespace pc {

/// While one lives, up to `bytes` of freed pages stay with the process for the next blocks. For operations of hundreds of
/// small steps: the system clears every page it hands out and forgets it again, which costs more than the step.
/// Several add up. The pages go back when the last one dies.
class PageReuse {
 public:
  explicit PageReuse(std::size_t bytes);
  ~PageReuse();
  PageReuse(const PageReuse&) = delete;
  PageReuse& operator=(const PageReuse&) = delete;

 private:
  std::size_t bytes_;
};

/// Freed blocks of pages on their way to their next owner. Thread-safe.
class PagePool {
 public:
  static PagePool& shared();
  /// Bytes to ask the system for when `bytes` (whole pages) are wanted: blocks of a few sizes fit each other.
  std::size_t rounded(std::size_t bytes);
  /// A block of that size or up to half as large again, with what its last owner left in it; null when there is none.
  /// `bytes` becomes its size.
  void* take(std::size_t& bytes);
  /// Blocks that nobody took for long make room. False when the pool does not want it; the caller gives it to the system.
  bool give(void* base, std::size_t bytes) noexcept;
  /// Gives all blocks back to the system; false when there were none.
  bool empty() noexcept;
  /// Changes how much may stay; what is too much goes back to the system.
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
  std::array<Block, 256> blocks_{};  ///< in the order they came
  std::size_t count_ = 0, held_ = 0, limit_ = 0;
};

}  // namespace pc

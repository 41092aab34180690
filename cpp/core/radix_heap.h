#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/float_bits.h"

namespace pc {

/// Priority queue of entries with a `double cost`, least cost first, for searches whose new costs are never below the one
/// taken last. Equal costs come in the order of the entries' `<`.
///
/// An entry lies in the bucket of the highest bit in which its cost (as ordered_bits) differs from the one taken last. The
/// lowest bucket that holds any is spread over those below it when its turn comes, so that memory is read in rows, while a
/// binary heap reads it at a new place in each of its levels.
///
/// Cost     O(64) moves an entry at most, about log2 of the number of entries in practice.
/// Source   Ahuja, Mehlhorn, Orlin & Tarjan 1990, one-level radix heap; costs are not NaN.
template <class Entry>
class RadixHeap {
 public:
  bool empty() const { return size_ == 0; }

  /// entry.cost: at least that of the entry taken last.
  void push(const Entry& entry) {
    ++size_;
    put(entry);
  }

  /// The least entry, taken out; the queue must hold one.
  ///
  /// soon   Called with entries that are near the head, so that what they name can be fetched from memory; an entry may
  ///        come several times or never.
  template <class Soon>
  Entry pop(const Soon& soon) {
    if (buckets_[0].empty()) spread(soon);
    auto& equal = buckets_[0];
    std::pop_heap(equal.begin(), equal.end(), after);
    const Entry least = equal.back();
    equal.pop_back();
    --size_;
    return least;
  }

 private:
  static constexpr std::size_t kKept = 4096;  // entries whose memory a bucket keeps when it is emptied
  static constexpr std::size_t kSoon = 32;    // entries of a bucket that is near the head

  static bool after(const Entry& a, const Entry& b) { return b < a; }

  void put(const Entry& entry) {
    const std::uint64_t differs = ordered_bits(entry.cost + 0.0) ^ last_;  // -0 is 0
    const auto bucket = static_cast<std::size_t>(std::bit_width(differs));
    buckets_[bucket].push_back(entry);
    if (bucket == 0)
      std::push_heap(buckets_[0].begin(), buckets_[0].end(), after);
    else
      filled_ |= std::uint64_t{1} << (bucket - 1);
  }

  /// Makes the least cost the last one and moves the entries of its bucket.
  template <class Soon>
  void spread(const Soon& soon) {
    auto& bucket = buckets_[static_cast<std::size_t>(std::countr_zero(filled_)) + 1];
    filled_ &= filled_ - 1;
    std::vector<Entry> from;
    from.swap(bucket);
    const auto least = std::min_element(from.begin(), from.end(),
                                        [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
    last_ = ordered_bits(least->cost + 0.0);
    if (from.size() <= kSoon)
      for (const Entry& entry : from) soon(entry);
    for (const Entry& entry : from) put(entry);
    if (from.capacity() > kKept) return;
    from.clear();
    bucket.swap(from);
  }

  std::array<std::vector<Entry>, 65> buckets_;
  std::uint64_t filled_ = 0;  // bit b: bucket b + 1 holds entries
  std::uint64_t last_ = 0;
  std::size_t size_ = 0;
};

}  // namespace pc

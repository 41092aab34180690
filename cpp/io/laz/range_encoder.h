#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/processor.h"
#include "io/laz/range_model.h"

#if defined(__GNUC__) && defined(__x86_64__)
/// With has_avx2(): zeros are counted in one step instead of eight, and shifts leave the flags alone.
#define PC_BIT_INSTRUCTIONS __attribute__((target("bmi,bmi2,lzcnt")))
#endif

namespace pc::io::laz {

/// Range encoder to its own growing buffer, with the same calls as RangeDecoder. Every call returns the value that it
/// was given.
///
/// A call only notes the part of the interval that the value has; flush() narrows the interval and writes bytes. There
/// each step waits for the length that the previous one left, so flush_all() takes several streams in turn.
/// Source: A. Said, HPL-2004-76, algorithms 16 to 20.
class RangeEncoder {
 public:
  static constexpr bool kDecodes = false;

  void start() {
    if (out_.empty()) out_.resize(kFirstBytes);
    if (parts_.empty()) parts_.resize(kFirstParts);
    at_ = kLead;
    base_ = 0;
    length_ = 0xFFFFFFFFU;
    empty();
  }

  /// Ends the stream with the fewest bytes that identify the interval, then zeros for the bytes that a decoder reads
  /// ahead.
  Span<const std::uint8_t> finish() {
    flush();
    reserve(1);
    const bool long_interval = length_ > 2 * kMinLength;
    Lane lane(*this);
    lane.advance(long_interval ? kMinLength : kMinLength >> 1,
                 long_interval ? kMinLength >> 1 : kMinLength >> 9);
    lane.store(*this);
    const std::size_t zeros = long_interval ? 3 : 2;
    std::memset(out_.data() + at_, 0, zeros);
    return {out_.data() + kLead, at_ + zeros - kLead};
  }

  template <unsigned kSymbols>
  PC_INLINE std::uint32_t symbol(SymbolModel<kSymbols>& model, std::uint32_t size, std::uint32_t value) {
    const std::uint32_t left = model.until_update - 1;
    if (static_cast<std::int32_t>(left) <= 0) [[unlikely]] {
      symbol_and_update(model, size, value);
      return value;
    }
    note(model.bounds(value), kSymbolBits);
    ++model.count[value];
    model.until_update = left;
    return value;
  }

  template <unsigned kSymbols>
  PC_INLINE std::uint32_t symbol_like(SymbolModel<kSymbols>& model, std::uint32_t size, std::uint32_t,
                                      std::uint32_t value) {
    return symbol(model, size, value);
  }

  std::uint32_t bit(BitModel& model, std::uint32_t value) {
    if (model.until_update == 0) [[unlikely]]
      model.begin();
    const std::uint32_t zeros = model.zero_share;
    note(value == 0 ? zeros << 16 : zeros | kToEnd, kBitBits);
    model.zeros += value == 0;
    if (--model.until_update == 0) model.update();
    return value;
  }

  PC_INLINE std::uint32_t bits(unsigned count, std::uint32_t value) {
    if (count > kNarrowBits) [[unlikely]]
      wide_bits(count, value);
    else
      note(value * 0x10001U + 0x10000U, count);
    return value;
  }
  /// As bits(), or nothing for a count of 0; whether it is 0 is not predictable, so there is no branch.
  PC_INLINE void bits_or_none(unsigned count, std::uint32_t value) {
    bits(count, value);
    next_ -= count == 0 ? 1 : 0;
  }
  std::uint32_t word(std::uint32_t value) {
    wide_bits(32, value);
    return value;
  }
  std::uint64_t double_word(std::uint64_t value) {
    word(static_cast<std::uint32_t>(value));
    word(static_cast<std::uint32_t>(value >> 32));
    return value;
  }

  void flush() {
    reserve(noted());
    Lane lane(*this);
    for (std::size_t i = 0, end = noted(); i < end; ++i) lane.step(i);
    lane.store(*this);
    empty();
  }

  /// Flushes all of `coders`; changes their order.
  static void flush_all(std::vector<RangeEncoder*>& coders);

 private:
  static constexpr std::size_t kFirstBytes = 4096, kFirstParts = 1024, kMostParts = 8192;
  static constexpr std::size_t kLead = 8;  ///< bytes before the stream, which a store may cover
  static constexpr std::size_t kLanes = 4;

  static constexpr unsigned kNarrowBits = 15;           ///< most bits of a part with bounds
  static constexpr std::uint32_t kToEnd = 0xFFFF0000U;  ///< an upper bound beyond every interval
  static constexpr std::uint32_t kWide = 0x80000000U;   ///< with the shift: `bounds` is one number

  /// A part of the interval, with unit = length >> shift: from start * unit to the smaller of next * unit and the end of
  /// the interval. A wide one has a start of up to 19 bits and the length of a unit.
  struct Part {
    std::uint32_t bounds;  ///< lower half: start, upper half: next
    std::uint32_t shift;
  };

  /// The state of a stream while parts of it are taken.
  struct Lane {
    Lane() = default;
    explicit Lane(RangeEncoder& coder)
        : parts(coder.parts_.data()),
          at(coder.out_.data() + coder.at_),
          base(coder.base_),
          length(coder.length_) {}
    void store(RangeEncoder& coder) const {
      coder.at_ = static_cast<std::size_t>(at - coder.out_.data());
      coder.base_ = base;
      coder.length_ = length;
    }

    /// Takes parts[i].
    PC_INLINE void step(std::size_t i) {
      const Part& part = parts[i];
      const std::uint32_t unit = length >> (part.shift & 31U);
      if ((part.shift & kWide) != 0) [[unlikely]]
        return advance(part.bounds * unit, unit);
      const std::uint32_t from = (part.bounds & 0xFFFFU) * unit;
      const std::uint64_t next = std::uint64_t{part.bounds >> 16} * unit;
      advance(from, static_cast<std::uint32_t>(std::min<std::uint64_t>(next, length)) - from);
    }

    /// The upper half of `base` has the last four bytes, which carries reach; all eight bytes are stored.
    PC_INLINE void advance(std::uint32_t by, std::uint32_t rest) {
      base += by;
      if (base < by) [[unlikely]]
        carry(at);
      const std::uint64_t bytes = swapped(base);
      std::memcpy(at - 4, &bytes, sizeof bytes);
      const unsigned shift = static_cast<unsigned>(std::countl_zero(rest)) & 24U;
      base <<= shift;
      length = rest << shift;
      at += shift / 8;
    }

    /// Carries beyond those four bytes, which are all 0xFF then. Not a member: the state would be kept in memory for it.
    static PC_NOINLINE void carry(std::uint8_t* at) {
      std::uint8_t* byte = at - 5;
      while (*byte == 0xFF) *byte-- = 0;
      ++*byte;
    }

    const Part* parts = nullptr;
    std::uint8_t* at = nullptr;
    std::uint64_t base = 0;
    std::uint32_t length = 0;
  };

  /// Takes `count` parts of each of the first lanes in turn.
  template <std::size_t... kLane>
  static PC_INLINE void take_in_turn(std::array<Lane, kLanes>& lanes, std::size_t count,
                                     std::index_sequence<kLane...>) {
    std::array<Lane, sizeof...(kLane)> local{lanes[kLane]...};  // in registers
    for (std::size_t i = 0; i < count; ++i) (local[kLane].step(i), ...);
    ((local[kLane].parts += count, lanes[kLane] = local[kLane]), ...);
  }
  template <std::size_t kCount>
  static PC_NOINLINE void take_generic(std::array<Lane, kLanes>& lanes, std::size_t count) {
    take_in_turn(lanes, count, std::make_index_sequence<kCount>());
  }
#if defined(PC_BIT_INSTRUCTIONS)
  template <std::size_t kCount>
  static PC_NOINLINE PC_BIT_INSTRUCTIONS void take_with_bits(std::array<Lane, kLanes>& lanes,
                                                             std::size_t count) {
    take_in_turn(lanes, count, std::make_index_sequence<kCount>());
  }
#endif
  using Take = void (*)(std::array<Lane, kLanes>&, std::size_t);
  static void take(std::array<Lane, kLanes>& lanes, std::size_t lane_count, std::size_t count) {
#if defined(PC_BIT_INSTRUCTIONS)
    static constexpr Take kWithBits[] = {take_with_bits<1>, take_with_bits<2>, take_with_bits<3>,
                                         take_with_bits<4>};
    if (has_avx2()) return kWithBits[lane_count - 1](lanes, count);
#endif
    static constexpr Take kGeneric[] = {take_generic<1>, take_generic<2>, take_generic<3>, take_generic<4>};
    kGeneric[lane_count - 1](lanes, count);
  }

  static PC_INLINE std::uint64_t swapped(std::uint64_t value) {
#if defined(_MSC_VER) && !defined(__clang__)
    return _byteswap_uint64(value);
#else
    return __builtin_bswap64(value);
#endif
  }

  PC_INLINE void note(std::uint32_t bounds, std::uint32_t shift) {
    if (next_ == end_) [[unlikely]]
      make_room();
    *next_++ = {bounds, shift};
  }
  /// A symbol before or after which the model has to be brought up to date.
  template <unsigned kSymbols>
  PC_NOINLINE void symbol_and_update(SymbolModel<kSymbols>& model, std::uint32_t size, std::uint32_t value) {
    if (model.until_update == 0) model.begin(size);
    note(model.bounds(value), kSymbolBits);
    ++model.count[value];
    if (--model.until_update == 0) model.update();
  }
  /// Up to 19 bits are one part, more are two.
  PC_NOINLINE void wide_bits(unsigned count, std::uint32_t value) {
    if (count <= 19) return note(value, count | kWide);
    note(value & 0xFFFFU, 16 | kWide);
    note(value >> 16, (count - 16) | kWide);
  }
  std::size_t noted() const { return static_cast<std::size_t>(next_ - parts_.data()); }
  void empty() {
    next_ = parts_.data();
    end_ = next_ + parts_.size();
  }

  PC_NOINLINE void make_room() {
    if (parts_.size() == kMostParts) return flush();
    const std::size_t count = noted();
    parts_.resize(parts_.size() * 2);
    empty();
    next_ += count;
  }

  /// Space for the bytes of `parts` parts: at most three each, and the eight of a store.
  void reserve(std::size_t parts) {
    const std::size_t wanted = at_ + 3 * parts + 16;
    if (wanted > out_.size()) out_.resize(std::max(wanted, 2 * out_.size()));
  }

  BulkVector<std::uint8_t> out_;
  BulkVector<Part> parts_;
  Part *next_ = nullptr, *end_ = nullptr;  ///< where the next part is noted, and the end of `parts_`
  std::size_t at_ = kLead;
  std::uint64_t base_ = 0;
  std::uint32_t length_ = 0xFFFFFFFFU;
};

/// Takes parts of kLanes streams in turn, the longest streams first, so that few parts are left when lanes have none.
inline void RangeEncoder::flush_all(std::vector<RangeEncoder*>& coders) {
  std::sort(coders.begin(), coders.end(), [](auto* a, auto* b) { return a->noted() > b->noted(); });
  std::array<RangeEncoder*, kLanes> taken{};
  std::array<std::size_t, kLanes> left{};
  std::array<Lane, kLanes> lanes;
  std::size_t next = 0, used = 0;
  for (;;) {
    for (; used < kLanes && next < coders.size() && coders[next]->noted() != 0; ++next, ++used) {
      taken[used] = coders[next];
      left[used] = taken[used]->noted();
      taken[used]->reserve(left[used]);
      lanes[used] = Lane(*taken[used]);
    }
    if (used == 0) break;
    const std::size_t common = *std::min_element(left.begin(), left.begin() + used);
    take(lanes, used, common);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < used; ++i) {
      left[i] -= common;
      if (left[i] == 0) {
        lanes[i].store(*taken[i]);
        taken[i]->empty();
        continue;
      }
      taken[kept] = taken[i];
      left[kept] = left[i];
      lanes[kept++] = lanes[i];
    }
    used = kept;
  }
}

}  // namespace pc::io::laz

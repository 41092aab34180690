#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "io/laz/range_model.h"

namespace pc::io::laz {

/// Range encoder to its own growing buffer, with the same calls as RangeDecoder. Every call returns the value that it
/// was given.
/// Source: A. Said, HPL-2004-76, algorithms 16 to 20 (carry propagation into bytes already written).
class RangeEncoder {
 public:
  static constexpr bool kDecodes = false;

  void start() {
    if (out_.empty()) out_.resize(kFirstBytes);
    at_ = 0;
    base_ = 0;
    length_ = 0xFFFFFFFFU;
  }

  /// Ends the stream with the fewest bytes that identify the interval, then zeros for the bytes that a decoder reads
  /// ahead.
  Span<const std::uint8_t> finish() {
    const bool long_interval = length_ > 2 * kMinLength;
    const std::uint32_t before = base_;
    base_ += long_interval ? kMinLength : kMinLength >> 1;
    length_ = long_interval ? kMinLength >> 1 : kMinLength >> 9;
    if (before > base_) carry();
    rescale();
    for (int i = long_interval ? 3 : 2; i > 0; --i) put(0);
    return {out_.data(), at_};
  }

  template <unsigned kSymbols>
  std::uint32_t symbol(SymbolModel<kSymbols>& model, std::uint32_t size, std::uint32_t value) {
    if (model.until_update == 0) [[unlikely]]
      model.begin(size);
    const std::uint32_t unit = length_ >> kSymbolBits;
    const std::uint32_t from = model.start(value) * unit;
    const std::uint32_t to = value + 1 == model.size ? length_ : model.start(value + 1) * unit;
    advance(from, to - from);
    ++model.count[value];
    if (--model.until_update == 0) model.update();
    return value;
  }

  template <unsigned kSymbols>
  std::uint32_t symbol_like(SymbolModel<kSymbols>& model, std::uint32_t size, std::uint32_t,
                            std::uint32_t value) {
    return symbol(model, size, value);
  }

  std::uint32_t bit(BitModel& model, std::uint32_t value) {
    if (model.until_update == 0) [[unlikely]]
      model.begin();
    const std::uint32_t split = model.zero_share * (length_ >> kBitBits);
    model.zeros += value == 0;
    if (value == 0) {
      advance(0, split);
    } else {
      advance(split, length_ - split);
    }
    if (--model.until_update == 0) model.update();
    return value;
  }

  std::uint32_t bits(unsigned count, std::uint32_t value) {
    if (count > 19) {
      raw(16, value & 0xFFFFU);
      raw(count - 16, value >> 16);
    } else {
      raw(count, value);
    }
    return value;
  }
  std::uint32_t word(std::uint32_t value) {
    raw(16, value & 0xFFFFU);
    raw(16, value >> 16);
    return value;
  }
  std::uint64_t double_word(std::uint64_t value) {
    word(static_cast<std::uint32_t>(value));
    word(static_cast<std::uint32_t>(value >> 32));
    return value;
  }

 private:
  static constexpr std::size_t kFirstBytes = 4096;

  void raw(unsigned count, std::uint32_t value) {
    length_ >>= count;
    advance(value * length_, length_);
  }

  void advance(std::uint32_t by, std::uint32_t length) {
    const std::uint32_t before = base_;
    base_ += by;
    length_ = length;
    if (before > base_) carry();
    if (length_ < kMinLength) rescale();
  }

  void rescale() {
    if (at_ + 8 > out_.size()) [[unlikely]]
      out_.resize(out_.size() * 2);
    do {
      out_[at_++] = static_cast<std::uint8_t>(base_ >> 24);
      base_ <<= 8;
      length_ <<= 8;
    } while (length_ < kMinLength);
  }

  void put(std::uint8_t byte) {
    if (at_ == out_.size()) out_.resize(out_.size() * 2);
    out_[at_++] = byte;
  }

  void carry() {
    std::size_t i = at_ - 1;
    while (out_[i] == 0xFF) out_[i--] = 0;
    ++out_[i];
  }

  BulkVector<std::uint8_t> out_;
  std::size_t at_ = 0;
  std::uint32_t base_ = 0, length_ = 0xFFFFFFFFU;
};

}  // namespace pc::io::laz

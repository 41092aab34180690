#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "io/laz/range_model.h"

namespace pc::io::laz {

/// Codes integers of kBits bits as corrections of a prediction: first k, the number of bits of the correction (with
/// kContexts distributions), then the index of the correction among those of k bits. For k > 8, the upper eight bits
/// have a model and the others are stored as they are.
/// Source: M. Isenburg, "LASzip: lossless compression of LiDAR data", PE&RS 79(2), 2013, section "Integer compressor".
template <unsigned kBits, unsigned kContexts>
class IntegerModel {
 public:
  using Width = SymbolModel<kBits + 1>;

  void reset() {
    for (auto& model : widths_) model.reset();
    for (auto& model : corrections_) model.reset();
    zero_or_one_.reset();
    k_ = 0;
  }

  /// Bits of the last correction.
  std::uint32_t k() const { return k_; }

  /// Encodes `real`, or decodes and returns it; both in the low kBits bits (arithmetic modulo 2^kBits).
  template <class Coder>
  std::uint32_t code(Coder& coder, std::uint32_t predicted, std::uint32_t real, std::uint32_t context = 0) {
    return code_with(coder, widths_[context], predicted, real);
  }
  /// As code(), with the distribution of widths passed in (for items with one context per byte).
  template <class Coder>
  std::uint32_t code_with(Coder& coder, Width& width, std::uint32_t predicted, std::uint32_t real) {
    if constexpr (Coder::kDecodes) {
      return (predicted + decode(coder, width)) & kMask;
    } else {
      encode(coder, width, real - predicted);
      return real;
    }
  }
  template <class Coder>
  std::int32_t code_signed(Coder& coder, std::int32_t predicted, std::int32_t real,
                           std::uint32_t context = 0) {
    return static_cast<std::int32_t>(
        code(coder, static_cast<std::uint32_t>(predicted), static_cast<std::uint32_t>(real), context));
  }

 private:
  static constexpr std::uint32_t kMask = static_cast<std::uint32_t>((std::uint64_t{1} << kBits) - 1);
  static constexpr std::uint32_t kModeled = 8;
  static constexpr std::uint32_t kMost =
      kBits < 32 ? kBits : 31;  ///< of 32 bits there is one correction only
  template <class Coder>
  std::uint32_t decode(Coder& coder, Width& width) {
    const std::uint32_t k = k_ = coder.symbol(width, kBits + 1);
    if (k == 0) return coder.bit(zero_or_one_);
    if (k > kMost) return 0x80000000U;
    std::uint32_t place = coder.symbol(corrections_[k - 1], 1U << std::min(k, kModeled));
    if (k > kModeled) {
      const unsigned low = k - kModeled;
      place = (place << low) | coder.bits(low);
    }
    // Lower half of the indices: corrections -(2^k - 1) to -2^(k-1); upper half: 2^(k-1) + 1 to 2^k.
    return place >= (1U << (k - 1)) ? place + 1 : place - ((1U << k) - 1);
  }

  template <class Coder>
  void encode(Coder& coder, Width& width, std::uint32_t difference) {
    const auto correction = static_cast<std::int32_t>(difference << (32 - kBits)) >> (32 - kBits);
    const std::uint32_t size = correction <= 0 ? 0U - static_cast<std::uint32_t>(correction)
                                               : static_cast<std::uint32_t>(correction) - 1;
    const std::uint32_t k = k_ = static_cast<std::uint32_t>(std::bit_width(size));
    coder.symbol(width, kBits + 1, k);
    if (k == 0) {
      coder.bit(zero_or_one_, static_cast<std::uint32_t>(correction));
      return;
    }
    if (k > kMost) return;
    const std::uint32_t place =
        static_cast<std::uint32_t>(correction) + (correction < 0 ? (1U << k) - 1 : 0xFFFFFFFFU);
    if (k <= kModeled) {
      coder.symbol(corrections_[k - 1], 1U << k, place);
    } else {
      const unsigned low = k - kModeled;
      coder.symbol(corrections_[k - 1], 1U << kModeled, place >> low);
      coder.bits(low, place & ((1U << low) - 1));
    }
  }

  Width widths_[kContexts];
  SymbolModel<256> corrections_[kMost];
  BitModel zero_or_one_;
  std::uint32_t k_ = 0;
};

}  // namespace pc::io::laz

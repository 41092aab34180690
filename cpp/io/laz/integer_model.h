#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
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

  /// One integer to code: `value` in the low kBits bits is the real one for an encoder, and becomes the decoded one.
  template <class Coder>
  struct Call {
    IntegerModel* model;
    Width* width;
    Coder* coder;
    std::uint32_t predicted, value;
  };

  void reset() {
    for (auto& model : widths_) model.reset();
    for (auto& model : corrections_) model.reset();
    zero_or_one_.reset();
    k_ = 0;
  }

  /// Bits of the last correction.
  std::uint32_t k() const { return k_; }

  template <class Coder>
  PC_INLINE Call<Coder> call(Coder& coder, std::int32_t predicted, std::int32_t real,
                             std::uint32_t context = 0) {
    return {this, &widths_[context], &coder, static_cast<std::uint32_t>(predicted),
            static_cast<std::uint32_t>(real)};
  }

  /// Codes one integer of each of several streams. A decoder takes them symbol by symbol in turn: the next symbol of a
  /// stream waits for the previous one, and the processor looks ahead over about two.
  template <class Coder, std::size_t kCalls>
  static PC_INLINE void code_all(std::array<Call<Coder>, kCalls>& calls) {
    if constexpr (Coder::kDecodes) {
      decode_all(calls);
    } else {
      for (Call<Coder>& call : calls)
        call.model->encode(*call.coder, *call.width, call.value - call.predicted);
    }
  }

  template <class Coder>
  PC_NOINLINE void code_call(Call<Coder>& call) {
    std::array<Call<Coder>, 1> calls{{call}};
    code_all(calls);
    call.value = calls[0].value;
  }

  /// Encodes `real`, or decodes and returns it; both in the low kBits bits (arithmetic modulo 2^kBits).
  template <class Coder>
  std::uint32_t code(Coder& coder, std::uint32_t predicted, std::uint32_t real, std::uint32_t context = 0) {
    return code_with(coder, widths_[context], predicted, real);
  }
  /// As code(), with the distribution of widths passed in (for items with one context per byte).
  template <class Coder>
  std::uint32_t code_with(Coder& coder, Width& width, std::uint32_t predicted, std::uint32_t real) {
    std::array<Call<Coder>, 1> calls{{{this, &width, &coder, predicted, real}}};
    code_all(calls);
    return calls[0].value;
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

  template <class Coder, std::size_t kCalls>
  static PC_INLINE void decode_all(std::array<Call<Coder>, kCalls>& calls) {
    std::array<std::uint32_t, kCalls> k, place;
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
      k[i] = calls[i].model->k_ = calls[i].coder->symbol(*calls[i].width, kBits + 1);
    }
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
      if (k[i] - 1 >= kMost) [[unlikely]] {
        place[i] = calls[i].model->decode_place_without_model(*calls[i].coder, k[i]);
        k[i] = 0;
      } else {
        place[i] =
            calls[i].coder->symbol(calls[i].model->corrections_[k[i] - 1], 1U << std::min(k[i], kModeled));
      }
    }
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
      if constexpr (kBits > kModeled) {
        const unsigned low = bits_beyond_model(k[i]);
        place[i] = (place[i] << low) | calls[i].coder->bits_or_none(low);
      }
      // Lower half of the indices: corrections -(2^k - 1) to -2^(k-1); upper half: 2^(k-1) + 1 to 2^k. Which half is as
      // good as random, so there is no branch.
      const std::uint32_t size = 1U << k[i];
      const auto in_lower =
          static_cast<std::uint32_t>(static_cast<std::int32_t>(place[i] - (size >> 1)) >> 31);
      const std::uint32_t correction = place[i] + 1 - (size & (k[i] == 0 ? 0 : in_lower));
      calls[i].value = (calls[i].predicted + correction) & kMask;
    }
  }

  /// The correction minus one if k is 0 (one bit) or more than kMost (one possible correction).
  template <class Coder>
  PC_NOINLINE std::uint32_t decode_place_without_model(Coder& coder, std::uint32_t k) {
    return k == 0 ? coder.bit(zero_or_one_) - 1 : 0x7FFFFFFFU;
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
    // Whether there are bits beyond the model is as good as random, so there is no branch.
    const unsigned low = kBits > kModeled ? bits_beyond_model(k) : 0;
    coder.symbol(corrections_[k - 1], 1U << (k - low), place >> low);
    if constexpr (kBits > kModeled) coder.bits_or_none(low, place & ((1U << low) - 1));
  }

  static unsigned bits_beyond_model(std::uint32_t k) {
    const auto beyond = static_cast<std::int32_t>(k - kModeled);
    return static_cast<unsigned>(beyond & ~(beyond >> 31));
  }

  Width widths_[kContexts];
  SymbolModel<256> corrections_[kMost];
  BitModel zero_or_one_;
  std::uint32_t k_ = 0;
};

}  // namespace pc::io::laz

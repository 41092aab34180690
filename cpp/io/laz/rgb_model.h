#pragma once
#include <cstdint>

#include "io/laz/prediction.h"
#include "io/laz/range_model.h"

namespace pc::io::laz {

struct Rgb {
  std::uint16_t r, g, b;
};

/// Colours byte by byte: which of the six bytes changed and whether the colour is not grey, then the changes; those of
/// green and blue are predicted from the previous channels.
/// Source: LASzip 2 specification, "RGB12 version 2"; versions 3 and 4 code the same way.
class RgbModel {
 public:
  void reset() {
    changed_.reset();
    for (auto& model : bytes_) model.reset();
  }

  template <class Coder>
  Rgb code(Coder& coder, const Rgb& last, const Rgb& real = {}) {
    const std::uint32_t changed = coder.symbol(changed_, 128, Coder::kDecodes ? 0 : changes(last, real));
    Rgb now;
    const int r0 = byte(coder, changed, 0, last.r & 255, last.r & 255, real.r & 255);
    const int r1 = byte(coder, changed, 1, last.r >> 8, last.r >> 8, real.r >> 8);
    now.r = static_cast<std::uint16_t>(r0 | (r1 << 8));
    if ((changed & 64) == 0) {
      now.g = now.b = now.r;
      return now;
    }
    const int low = r0 - (last.r & 255), high = r1 - (last.r >> 8);
    const int g0 = byte(coder, changed, 2, last.g & 255, clamp_byte(low + (last.g & 255)), real.g & 255);
    const int low_mean = (low + g0 - (last.g & 255)) / 2;
    const int b0 = byte(coder, changed, 4, last.b & 255, clamp_byte(low_mean + (last.b & 255)), real.b & 255);
    const int g1 = byte(coder, changed, 3, last.g >> 8, clamp_byte(high + (last.g >> 8)), real.g >> 8);
    const int high_mean = (high + g1 - (last.g >> 8)) / 2;
    const int b1 = byte(coder, changed, 5, last.b >> 8, clamp_byte(high_mean + (last.b >> 8)), real.b >> 8);
    now.g = static_cast<std::uint16_t>(g0 | (g1 << 8));
    now.b = static_cast<std::uint16_t>(b0 | (b1 << 8));
    return now;
  }

 private:
  static std::uint32_t changes(const Rgb& last, const Rgb& real) {
    const auto differ = [](std::uint16_t a, std::uint16_t b) {
      return (((a ^ b) & 255) != 0 ? 1U : 0U) | ((a ^ b) > 255 ? 2U : 0U);
    };
    const bool grey = real.r == real.g && real.r == real.b;
    return differ(last.r, real.r) | (differ(last.g, real.g) << 2) | (differ(last.b, real.b) << 4) |
           (grey ? 0U : 64U);
  }

  template <class Coder>
  int byte(Coder& coder, std::uint32_t changed, unsigned which, int last, int predicted, int real) {
    if ((changed >> which & 1) == 0) return last;
    const auto difference = static_cast<std::uint32_t>(real - predicted) & 255;
    return (predicted + static_cast<int>(coder.symbol(bytes_[which], 256, difference))) & 255;
  }

  SymbolModel<128> changed_;
  SymbolModel<256> bytes_[6];
};

/// Near infrared, as the bytes of a colour channel.
class NirModel {
 public:
  void reset() {
    changed_.reset();
    for (auto& model : bytes_) model.reset();
  }

  template <class Coder>
  std::uint16_t code(Coder& coder, std::uint16_t last, std::uint16_t real = 0) {
    const unsigned difference = last ^ real;
    const std::uint32_t changed =
        coder.symbol(changed_, 4, ((difference & 255) != 0 ? 1U : 0U) | (difference > 255 ? 2U : 0U));
    unsigned low = last & 255U, high = last >> 8;
    if ((changed & 1) != 0) low = (low + coder.symbol(bytes_[0], 256, (real - low) & 255)) & 255;
    if ((changed & 2) != 0) high = (high + coder.symbol(bytes_[1], 256, ((real >> 8) - high) & 255)) & 255;
    return static_cast<std::uint16_t>(low | (high << 8));
  }

 private:
  SymbolModel<4> changed_;
  SymbolModel<256> bytes_[2];
};

}  // namespace pc::io::laz

#pragma once
#include <array>
#include <cstddef>
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

  /// One colour to code: `value` is the real one for an encoder, and becomes the decoded one.
  template <class Coder>
  struct Call {
    RgbModel* model;
    Coder* coder;
    Rgb last, value;
  };

  template <class Coder>
  Rgb code(Coder& coder, const Rgb& last, const Rgb& real = {}) {
    std::array<Call<Coder>, 1> calls{{{this, &coder, last, real}}};
    code_all(calls);
    return calls[0].value;
  }

  /// Codes one colour of each of several streams, symbol by symbol in turn (see IntegerModel::code_all).
  template <class Coder, std::size_t kCalls>
  static PC_INLINE void code_all(std::array<Call<Coder>, kCalls>& calls) {
    std::array<Step, kCalls> steps;
    PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
      const Call<Coder>& call = calls[i];
      const std::uint32_t changed =
          call.coder->symbol(call.model->changed_, 128, Coder::kDecodes ? 0 : changes(call.last, call.value));
      steps[i].changed =
          (changed & 64) != 0 ? changed : changed & 3;  // of a grey colour, red alone is stored
    }
    const auto code_byte = [&](unsigned which, const auto& predict) PC_INLINE_LAMBDA {
      PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
        if ((steps[i].changed >> which & 1) != 0) {
          const Call<Coder>& call = calls[i];
          const int predicted = predict(steps[i], call.last);
          const auto difference = static_cast<std::uint32_t>(byte_of(call.value, which) - predicted) & 255;
          steps[i].bytes[which] =
              (predicted + static_cast<int>(call.coder->symbol(call.model->bytes_[which], 256, difference))) &
              255;
        } else {
          steps[i].bytes[which] = byte_of(calls[i].last, which);
        }
      }
    };
    code_byte(0, [](const Step&, const Rgb& last) { return last.r & 255; });
    code_byte(1, [](const Step&, const Rgb& last) { return last.r >> 8; });
    code_byte(2, [](const Step& now, const Rgb& last) {
      return clamp_byte(now.bytes[0] - (last.r & 255) + (last.g & 255));
    });
    code_byte(4, [](const Step& now, const Rgb& last) {
      return clamp_byte((now.bytes[0] - (last.r & 255) + now.bytes[2] - (last.g & 255)) / 2 + (last.b & 255));
    });
    code_byte(3, [](const Step& now, const Rgb& last) {
      return clamp_byte(now.bytes[1] - (last.r >> 8) + (last.g >> 8));
    });
    code_byte(5, [](const Step& now, const Rgb& last) {
      return clamp_byte((now.bytes[1] - (last.r >> 8) + now.bytes[3] - (last.g >> 8)) / 2 + (last.b >> 8));
    });
    for (std::size_t i = 0; i < kCalls; ++i) calls[i].value = steps[i].color();
  }

 private:
  struct Step {
    std::uint32_t changed;
    std::array<int, 6> bytes;  ///< low and high of red, green, blue

    Rgb color() const {
      const auto channel = [&](int from) {
        return static_cast<std::uint16_t>(bytes[from] | (bytes[from + 1] << 8));
      };
      if ((changed & 64) == 0) return {channel(0), channel(0), channel(0)};
      return {channel(0), channel(2), channel(4)};
    }
  };
  static int byte_of(const Rgb& color, unsigned which) {
    const std::uint16_t channel = which < 2 ? color.r : which < 4 ? color.g : color.b;
    return which % 2 == 0 ? channel & 255 : channel >> 8;
  }

  static std::uint32_t changes(const Rgb& last, const Rgb& real) {
    const auto differ = [](std::uint16_t a, std::uint16_t b) {
      return (((a ^ b) & 255) != 0 ? 1U : 0U) | ((a ^ b) > 255 ? 2U : 0U);
    };
    const bool grey = real.r == real.g && real.r == real.b;
    return differ(last.r, real.r) | (differ(last.g, real.g) << 2) | (differ(last.b, real.b) << 4) |
           (grey ? 0U : 64U);
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

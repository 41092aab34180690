#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

struct IntensityScale {
  Column<std::uint16_t> intensity;  ///< (n) 0..65535
  std::optional<double> min, max;   ///< of the finite values that were mapped; empty if there are none
};

/// Maps a column's finite minimum..maximum linearly to 0..65535, for intensities without a fixed range (dB, signed
/// values, floats).
///
/// values   (n) any scalar type.
/// skip     (n) non-zero = the row is left out of minimum and maximum and becomes 0 (misses), or empty = all rows
///          count.
/// Order    floor((v - min) / (max - min) * 65535 + 0.5) in float64; non-finite values become 0, and so do all values
///          if max = min.
/// Cost     Two streaming passes. Cancel within 50 ms.
/// Errors   kInvalidArgument for triples or a skip mask of another length.
/// Source   contract cloud-import section 6.
IntensityScale scale_intensity(const AnyColumn& values, Span<const std::uint8_t> skip, OpContext& ctx);

/// The range of the colour channels of a file.
enum class ColorRange : std::uint8_t {
  kUnit,    ///< 0..1, times 65535
  kByte,    ///< 0..255, times 256, at most 65535
  kUint16,  ///< 0..65535, as is
};

struct ColorChannels {
  const AnyColumn* r;
  const AnyColumn* g;
  const AnyColumn* b;
};

/// Three channels (n) as 16-bit colour. Values are scaled, rounded half up and clipped to 0..65535; NaN becomes 0.
/// One streaming pass, cancel within 50 ms.
/// Errors   kInvalidArgument for triples or unequal lengths.
Column<Rgb16> scale_colors(const ColorChannels& channels, ColorRange range, OpContext& ctx);

}  // namespace pc

#pragma once
#include <cstdint>
#include <optional>

#include "core/column.h"
#include "core/op_context.h"

namespace pc {

struct IntensityScale {
  Column<std::uint16_t> intensity;  ///< (n) 0..65535
  std::optional<double> min, max;   ///< of the finite values that were mapped; empty when there are none
};

/// Linear map of a column's finite min..max to 0..65535, for intensities without a fixed range (dB, signed,
/// floats).
///
/// values   (n) any scalar type.
/// skip     (n) non-zero = the row does not count for min..max and becomes 0 (misses), or empty = all rows
///          count.
/// Order    floor((v - min) / (max - min) * 65535 + 0.5) in float64; non-finite values and a zero span give
///          0.
/// Cost     Two streaming passes. Cancel within 50 ms.
/// Errors   kInvalidArgument for triples or a skip mask of another length.
/// Source   contract cloud-import section 6.
IntensityScale scale_intensity(const AnyColumn& values, Span<const std::uint8_t> skip, OpContext& ctx);

/// The range that colour channels of a file are in.
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

/// Range of channels that say nothing of it. Types first: three u8 are kByte, a u16 among integers is
/// kUint16. Else the largest finite value of all three decides: floats up to 1 are kUnit, values up to 255
/// kByte, above kUint16.
/// Errors   kInvalidArgument for triples or unequal lengths.
ColorRange detect_color_range(const ColorChannels& channels, OpContext& ctx);

/// Three channels (n) as 16-bit colour. Rounded half up after scaling, clipped to 0..65535; NaN becomes 0.
/// Errors and Source as above; one streaming pass, cancel within 50 ms.
Column<Rgb16> scale_colors(const ColorChannels& channels, ColorRange range, OpContext& ctx);

}  // namespace pc

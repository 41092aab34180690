#pragma once
#include <cstdint>

#include "core/column.h"
#include "core/op_context.h"
#include "core/vec3.h"

namespace pc::io {

/// How the elements of a column stand in a JSON document.
enum class JsonForm : std::uint8_t {
  kNumbers,  ///< 1,2,3
  kPairs,    ///< [1,2],[3,4]
  kTriples,  ///< [1,2,3],[4,5,6]
  kCounts,   ///< [0,1,2],[3,4,5]: the numbers of the elements instead of their values
  kText,     ///< UTF-8 bytes as the inside of a string
  kJson,     ///< bytes that are JSON text
};

/// A part of a column.
struct JsonPart {
  JsonForm form;
  std::uint64_t first;    ///< element, a multiple of the width of the form
  std::uint64_t count;    ///< elements, likewise; at most kMaxJsonPart
  Vec3d origin{0, 0, 0};  ///< added to triples of f32 and f64
};
/// Keeps the text of a part below 4 MiB for numbers and 6 MiB for text.
inline constexpr std::uint64_t kMaxJsonPart = std::uint64_t{1} << 18;

/// JSON text of a part of a column, without the brackets or quotes round the whole.
///
/// column   f32, u32 or u8; f64 as triples; any type for kCounts; u8 for kText and kJson. Bytes from 0x80 on are copied.
/// Values   The shortest decimal that reads back as the same float32; with an origin the sum in float64, rounded to 1e-7,
///          and so are triples of f64.
///          NaN and infinities become null.
/// Cost     O(count): 20 to 60 ns a number; memory for the text, at most 28 bytes a number and 6 a byte of text.
/// Cancel   The part is small: it is not interrupted.
/// Errors   kInvalidArgument: a part outside of the column, not of whole rows, too large; another type.
Column<std::uint8_t> json_text(const AnyColumn& column, const JsonPart& part, OpContext& ctx);

}  // namespace pc::io

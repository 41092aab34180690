#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/column.h"
#include "core/op_context.h"

namespace pc::io {

/// How the bytes of a block are ordered before they are deflated.
enum class ColumnFilter : std::uint8_t {
  kNone,          ///< as they are
  kShuffle,       ///< all first bytes of the elements, then all second bytes, ...
  kDeltaShuffle,  ///< differences of rows, as integers that wrap around, then kShuffle
};
const char* filter_name(ColumnFilter filter);

/// A column file of a project archive (`.pz`). Little-endian:
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0  | 6 | bytes | `ZCOL`, 0x01, line feed |
/// | 6  | 4 | u32 | length of the header, at most kMaxZcolHeader |
/// | 10 | | UTF-8 | `{"dtype": "<f8", "shape": [n, 3], "filter": "shuffle", "block_rows": 349525}` |
///
/// Then for each block of block_rows rows, the last one shorter: u32 length, raw deflate stream of that length. Blocks
/// are independent; an empty column has none. dtype: `|b1 |u1 |i1 <u2 <i2 <u4 <i4 <u8 <i8 <f4 <f8`.
struct ZcolHeader {
  DType dtype;  ///< kVec3d for `<f8` and kRgb16 for `<u2` with shape [n, 3]
  std::uint64_t rows;
  ColumnFilter filter;
  std::uint64_t block_rows;

  std::uint64_t row_bytes() const { return dtype_size(dtype); }
  std::uint64_t blocks() const { return rows / block_rows + (rows % block_rows != 0); }
  std::uint64_t block_bytes(std::uint64_t block) const {
    return (block + 1 < blocks() ? block_rows : rows - block * block_rows) * row_bytes();
  }
};

constexpr std::size_t kZcolTag = 6;
constexpr std::size_t kZcolPrefix = kZcolTag + 4;
constexpr std::size_t kMaxZcolHeader = 4096;
/// Bytes of a block that is written, and of the largest one that is read unless a single row is larger.
constexpr std::uint64_t kZcolBlock = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxZcolBlock = std::uint64_t{64} << 20;

/// True if the first kZcolTag bytes are the tag.
bool has_zcol_tag(const std::byte* bytes);
/// Tag, length and header. `is_bool`: dtype `|b1` instead of `|u1`.
std::string zcol_header_text(const ZcolHeader& header, bool is_bool);
/// The header in a JSON text. Errors: kInvalidFile, with the rule that is broken.
ZcolHeader parse_zcol_header(std::string_view json, OpContext& ctx);
/// The type of a column for a type string and the number of values in a row, 1 or 3. Errors: kInvalidFile.
DType column_dtype(const std::string& type, std::uint64_t width);

}  // namespace pc::io

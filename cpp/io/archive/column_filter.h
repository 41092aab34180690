#pragma once
#include <cstddef>

#include "core/column.h"
#include "core/op_context.h"
#include "io/archive/zcol_header.h"

namespace pc::io {

/// Writes the filtered bytes of whole rows of a type to `out`, which has as many bytes and does not overlap. kNone copies.
/// Cancel   Within 65,536 values.
void filter_rows(ColumnFilter filter, DType dtype, Span<const std::byte> rows, std::byte* out,
                 const OpContext& ctx);

/// Inverse of filter_rows.
void unfilter_rows(ColumnFilter filter, DType dtype, Span<const std::byte> filtered, std::byte* out,
                   const OpContext& ctx);

/// Size of the values that a filter takes apart: those of a triple are filtered one by one.
constexpr std::size_t value_size(DType dtype) {
  return dtype == DType::kVec3d ? 8 : dtype == DType::kRgb16 ? 2 : dtype_size(dtype);
}

}  // namespace pc::io

#pragma once
#include <string>

#include "core/error.h"
#include "core/op_context.h"
#include "io/cloud_view.h"
#include "io/text_rows.h"

namespace pc::io {

/// Checks that every column of the view has one value per point and that all scalars are scalar columns.
///
/// Errors  kInvalidArgument naming the column; a stride of 0.
void check_columns(const CloudView& view);

/// True if a written colour has a channel that 8 bits cannot represent: neither its high byte x 256 nor x 257.
bool colors_need_16_bits(const CloudView& view, const RowSelection& rows, OpContext& ctx);

}  // namespace pc::io

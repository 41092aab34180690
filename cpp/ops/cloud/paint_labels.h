#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/cloud/row_set.h"

namespace pc {

struct LabelStroke {
  const AnyColumn* column;            ///< (n) scalar, or nullptr = all 0, u8
  Span<const std::uint8_t> selected;  ///< (n) non-zero = inside the stroke
  Span<const std::uint8_t> skip;      ///< (n) non-zero = not editable (miss or deleted), or empty = all are
  double to_class;                    ///< a whole number, at most 2^53 in size
  std::optional<std::vector<double>> from_classes;  ///< repaint only these; none = any
  std::vector<double> exclude_classes;              ///< never repaint these
};

struct PaintedLabels {
  AnyColumn column;    ///< (n) after the stroke; wider than before when a painted class needs it
  RowSet rows;         ///< rows whose value changed
  AnyColumn previous;  ///< their values before, of the old type; one when all are equal, none without rows
  std::uint64_t selected_count;  ///< editable rows inside the stroke
};

/// One stroke of the label brush.
///
/// stroke   (n) rows. Classes are compared with rint(value), half to even; a row that holds to_class exactly already
///          does not change. NaN has no class: only a stroke without from_classes paints it.
/// Order    Row order; does not depend on threads.
/// Cost     Five streaming passes over n bytes each, one over the column; n bytes and the new column.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: other lengths, a column of triples, a to_class that is no whole number or that no type
///          holds beside the column's values.
/// Source   contract sessions section 4.1.
PaintedLabels paint_labels(const LabelStroke& stroke, OpContext& ctx);

/// A copy of a column with other values at some rows: takes a stroke back.
///
/// column   (n) scalar.
/// rows     a set of its rows.
/// values   one per row of the set, in their order, or a single one for all; any scalar type. Bits survive where the
///          types are equal.
/// Order    Does not depend on threads.
/// Cost     One pass over the column and one over the set.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: triples, a set of other rows, another number of values, values that have no type in
///          common with the column's.
/// Source   The type stays where every value fits it exactly, else it is the narrowest one that holds both.
AnyColumn set_labels(const AnyColumn& column, const RowSetView& rows, const AnyColumn& values,
                     OpContext& ctx);

}  // namespace pc

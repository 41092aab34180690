#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/cloud/region_select.h"
#include "ops/cloud/row_set.h"

namespace pc {

struct LabelStroke {
  const AnyColumn* column;            ///< (n) scalar, or nullptr = u8 zeros
  Span<const std::uint8_t> selected;  ///< (n) non-zero = inside the stroke
  Span<const std::uint8_t> skip;      ///< (n) non-zero = not editable (miss, deleted), or empty = all are
  double to_class;                    ///< a whole number, at most 2^53 in absolute value
  std::optional<std::vector<double>> from_classes;  ///< repaint only these; none = any
  std::vector<double> exclude_classes;              ///< never repaint these
};

struct PaintedLabels {
  AnyColumn column;              ///< (n) after the stroke; of a wider type if a painted class needs it
  RowSet rows;                   ///< rows whose value changed
  AnyColumn previous;            ///< their previous values, in the previous type; one if all are equal
  std::uint64_t selected_count;  ///< editable rows inside the stroke
};

/// Applies one stroke of the label brush.
///
/// stroke   (n) rows. Classes are compared with rint(value), half to even; a row whose value equals to_class does not
///          change. NaN has no class: only a stroke without from_classes paints it.
/// Order    Row order; does not depend on threads.
/// Cost     Five streaming passes over n bytes each, one over the column; n bytes and the new column.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: lengths that differ, a column of triples, a to_class that is not a whole number, or no
///          type that holds both to_class and the column's values.
/// Source   contract sessions section 4.1.
PaintedLabels paint_labels(const LabelStroke& stroke, OpContext& ctx);

/// A stroke whose rows are still to be selected.
struct RegionStroke {
  std::vector<Region> regions;  ///< the rows in all of them
  double to_class;
  std::optional<std::vector<double>> from_classes;
  std::vector<double> exclude_classes;
};

struct StrokeSequence {
  const AnyColumn* column;            ///< (n) scalar, or nullptr = u8 zeros
  Span<const Vec3d> positions;        ///< (n)
  Span<const std::uint8_t> skip;      ///< (n) non-zero = not editable, or empty = all are
  std::vector<RegionStroke> strokes;  ///< in order; at least one
  std::uint64_t max_history_bytes;    ///< of `rows` and `previous` of two or more strokes
};

struct StrokeChange {
  RowSet rows;
  AnyColumn previous;
  std::uint64_t selected_count;
};

struct PaintedSequence {
  AnyColumn column;                   ///< (n) after the last stroke
  std::vector<StrokeChange> changes;  ///< one per stroke
};

/// Applies several strokes, each to the labels that the strokes before it left. Equal to region_select and paint_labels
/// for one after another, in one copy of the column.
///
/// sequence (n) rows.
/// Order    Row order; does not depend on threads.
/// Cost     Per stroke that of region_select and of paint_labels without its new column. Memory: one new column (two
///          while it is widened), 2 n bytes, and what `changes` holds; not more with more strokes.
/// Cancel   Within 50 ms.
/// Errors   Those of region_select and paint_labels; kInvalidArgument if `changes` exceeds max_history_bytes.
/// Source   contract sessions section 4.1.
PaintedSequence paint_strokes(const StrokeSequence& sequence, OpContext& ctx);

/// Copies a column with other values at some rows, to undo a stroke.
///
/// column   (n) scalar.
/// rows     a set of its rows.
/// values   one per row of the set, in that order, or a single value for all; any scalar type. Copied bit for bit if
///          the types are equal.
/// Order    Does not depend on threads.
/// Cost     One pass over the column and one over the set.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: triples, a row set of another cloud, a wrong number of values, values that have no type
///          in common with the column.
/// Source   The column keeps its type if every value fits it exactly; otherwise it gets the narrowest type for both.
AnyColumn set_labels(const AnyColumn& column, const RowSetView& rows, const AnyColumn& values,
                     OpContext& ctx);

}  // namespace pc

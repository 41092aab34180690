#pragma once
#include <memory>
#include <vector>

#include "binding/column_handle.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/merge_frames.h"
#include "ops/cloud/paint_labels.h"
#include "ops/cloud/region_select.h"
#include "ops/cloud/row_set.h"

/// Converts the values of backend/native/cloud-edit.ts.
namespace pc::binding {

/// Columns in order, kept alive for a job.
std::vector<ColumnPtr> column_list(const Napi::Value& value, const char* what);
std::vector<const AnyColumn*> raw_pointers(const std::vector<ColumnPtr>& columns);
ColumnPtr mask_column(const Napi::Value& value, const char* what);
/// nullptr for null.
ColumnPtr optional_mask(const Napi::Value& value, const char* what);
ColumnPtr positions_column(const Napi::Value& value);

/// The argument of selectRows, with the columns that it refers to.
struct HeldSelection {
  ColumnPtr positions;
  std::vector<ColumnPtr> columns;
  RowSelection selection;
};
std::shared_ptr<HeldSelection> held_selection(const Napi::Value& value);

struct HeldRowSet {
  ColumnPtr data;
  RowSetView view;
};
HeldRowSet held_row_set(const Napi::Value& value);

/// The argument of paintStrokes, with the columns that it refers to.
struct HeldSequence {
  ColumnPtr column, positions, skip;
  StrokeSequence sequence;
};
std::shared_ptr<HeldSequence> held_sequence(const Napi::Value& value);

struct HeldParts {
  std::vector<ColumnPtr> columns;
  std::vector<MergePart> parts;
};
std::shared_ptr<HeldParts> held_parts(const Napi::Value& value);

Napi::Value column_to_js(Napi::Env env, AnyColumn&& column);
Napi::Value columns_to_js(Napi::Env env, std::vector<AnyColumn>&& columns);
Napi::Value to_js(Napi::Env env, RowSet&& set);
Napi::Array to_js(Napi::Env env, const std::vector<double>& values);
Napi::Array to_js(Napi::Env env, const std::vector<std::uint64_t>& counts);

}  // namespace pc::binding

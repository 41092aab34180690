#include "binding/cloud_edit_values.h"

#include <string>

#include "binding/js_values.h"

namespace pc::binding {

namespace {

Napi::Value field(const Napi::Object& object, const char* name) { return object.Get(name); }

std::vector<Pixel> pixels(const Napi::Value& value, const char* what) {
  const auto array = strict_array(value, what);
  std::vector<Pixel> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::HandleScope scope(array.Env());  // thousands of small arrays
    const auto pair = number_array<2>(array.Get(i), what);
    out.push_back({pair[0], pair[1]});
  }
  return out;
}

ScreenView screen_view(const Napi::Value& value) {
  const auto js = strict_object(value, "screen");
  return {number_array<16>(field(js, "projection"), "projection"),
          number_array<16>(field(js, "view"), "view"), strict_number(field(js, "width"), "width"),
          strict_number(field(js, "height"), "height")};
}

Region region(const Napi::Value& value) {
  const auto js = strict_object(value, "region");
  const std::string kind = strict_string(field(js, "kind"), "kind of a region");
  const bool invert = strict_bool(field(js, "invert"), "invert");
  if (kind == "box") {
    return {BoxRegion{number_triple(field(js, "min"), "min"), number_triple(field(js, "max"), "max")},
            invert};
  }
  if (kind == "polygon") {
    return {PolygonRegion{pixels(field(js, "points"), "points"), screen_view(field(js, "screen"))}, invert};
  }
  if (kind == "squares_union") {
    return {
        SquaresRegion{pixels(field(js, "centers"), "centers"),
                      number_list(field(js, "half_sizes"), "half_sizes"), screen_view(field(js, "screen"))},
        invert};
  }
  refuse_choice("kind of a region", kind, {"box", "polygon", "squares_union"});
}

}  // namespace

std::vector<ColumnPtr> column_list(const Napi::Value& value, const char* what) {
  const auto array = strict_array(value, what);
  std::vector<ColumnPtr> columns;
  for (std::uint32_t i = 0; i < array.Length(); ++i) columns.push_back(ColumnHandle::get(array.Get(i)));
  return columns;
}

std::vector<const AnyColumn*> raw_pointers(const std::vector<ColumnPtr>& columns) {
  std::vector<const AnyColumn*> out;
  for (const ColumnPtr& column : columns) out.push_back(column.get());
  return out;
}

ColumnPtr mask_column(const Napi::Value& value, const char* what) {
  return typed_column(value, DType::kU8, what);
}
ColumnPtr optional_mask(const Napi::Value& value, const char* what) {
  return optional_typed_column(value, DType::kU8, what);
}
ColumnPtr positions_column(const Napi::Value& value) {
  return typed_column(value, DType::kVec3d, "positions");
}

std::shared_ptr<HeldSelection> held_selection(const Napi::Value& value) {
  const auto js = strict_object(value, "selection");
  auto held = std::make_shared<HeldSelection>();
  held->positions = positions_column(field(js, "positions"));
  held->selection.positions = held->positions->as<Vec3d>();
  const auto regions = strict_array(field(js, "regions"), "regions");
  for (std::uint32_t i = 0; i < regions.Length(); ++i)
    held->selection.regions.push_back(region(regions.Get(i)));
  const auto filters = strict_array(field(js, "filters"), "filters");
  for (std::uint32_t i = 0; i < filters.Length(); ++i) {
    const auto filter = strict_object(filters.Get(i), "filter");
    held->columns.push_back(ColumnHandle::get(field(filter, "column")));
    held->selection.filters.push_back({held->columns.back().get(), strict_number(field(filter, "min"), "min"),
                                       strict_number(field(filter, "max"), "max"),
                                       number_list(field(filter, "values"), "values")});
  }
  return held;
}

HeldRowSet held_row_set(const Napi::Value& value) {
  const auto js = strict_object(value, "a set of rows");
  const auto encoding = strict_choice<RowEncoding>(
      field(js, "encoding"), "encoding",
      {{"rows", RowEncoding::kRows}, {"runs", RowEncoding::kRuns}, {"bits", RowEncoding::kBits}});
  const auto data = ColumnHandle::get(field(js, "data"));
  const std::uint64_t count = strict_whole(field(js, "count"), "count");
  return {data, {encoding, data.get(), count}};
}

std::shared_ptr<HeldSequence> held_sequence(const Napi::Value& value) {
  const auto js = strict_object(value, "sequence");
  auto held = std::make_shared<HeldSequence>();
  held->column = ColumnHandle::get_optional(field(js, "column"));
  held->positions = positions_column(field(js, "positions"));
  held->skip = optional_mask(field(js, "skip"), "skip");
  StrokeSequence& sequence = held->sequence;
  sequence.column = held->column.get();
  sequence.positions = held->positions->as<Vec3d>();
  sequence.skip = view_or_empty<std::uint8_t>(held->skip);
  sequence.max_history_bytes = whole_field<std::uint64_t>(js, "max_history_bytes");
  const auto strokes = strict_array(field(js, "strokes"), "strokes");
  for (std::uint32_t i = 0; i < strokes.Length(); ++i) {
    const Napi::HandleScope scope(strokes.Env());
    const auto stroke = strict_object(strokes.Get(i), "stroke");
    RegionStroke out;
    const auto regions = strict_array(field(stroke, "regions"), "regions");
    for (std::uint32_t k = 0; k < regions.Length(); ++k) out.regions.push_back(region(regions.Get(k)));
    out.to_class = strict_number(field(stroke, "to_class"), "to_class");
    const auto from = field(stroke, "from_classes");
    if (!from.IsNull() && !from.IsUndefined()) out.from_classes = number_list(from, "from_classes");
    out.exclude_classes = number_list(field(stroke, "exclude_classes"), "exclude_classes");
    sequence.strokes.push_back(std::move(out));
  }
  return held;
}

std::shared_ptr<HeldParts> held_parts(const Napi::Value& value) {
  const auto array = strict_array(value, "parts");
  auto held = std::make_shared<HeldParts>();
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    const auto js = strict_object(array.Get(i), "part");
    const auto column = ColumnHandle::get_optional(field(js, "column"));
    const auto drop = optional_mask(field(js, "drop"), "drop");
    const Napi::Value fill = field(js, "fill");
    held->parts.push_back(
        {column.get(), whole_field<std::size_t>(js, "rows"), view_or_empty<std::uint8_t>(drop),
         number_triple(field(js, "offset"), "offset"),
         fill.IsNull() ? std::nullopt : std::optional<double>(strict_number(fill, "fill"))});
    held->columns.push_back(column);
    held->columns.push_back(drop);
  }
  return held;
}

Napi::Value column_to_js(Napi::Env env, AnyColumn&& column) {
  return ColumnHandle::wrap(env, std::move(column));
}

Napi::Value columns_to_js(Napi::Env env, std::vector<AnyColumn>&& columns) {
  auto out = Napi::Array::New(env, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    out.Set(static_cast<std::uint32_t>(i), ColumnHandle::wrap(env, std::move(columns[i])));
  return out;
}

Napi::Value to_js(Napi::Env env, RowSet&& set) {
  const char* const name = set.encoding == RowEncoding::kRows   ? "rows"
                           : set.encoding == RowEncoding::kRuns ? "runs"
                                                                : "bits";
  auto out = Napi::Object::New(env);
  out.Set("encoding", name);
  out.Set("data", ColumnHandle::wrap(env, std::move(set.data)));
  out.Set("count", static_cast<double>(set.count));
  return out;
}

Napi::Array to_js(Napi::Env env, const std::vector<double>& values) {
  auto out = Napi::Array::New(env, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out.Set(static_cast<std::uint32_t>(i), values[i]);
  return out;
}

Napi::Array to_js(Napi::Env env, const std::vector<std::uint64_t>& counts) {
  auto out = Napi::Array::New(env, counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    out.Set(static_cast<std::uint32_t>(i), static_cast<double>(counts[i]));
  return out;
}

}  // namespace pc::binding

#include "io/record_table.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "core/parallel.h"
#include "io/scalar_bytes.h"

namespace pc::io {

namespace {

constexpr std::size_t kRowGrain = std::size_t{1} << 18;
constexpr std::size_t kPollRows = std::size_t{1} << 20;

struct Strided {
  const std::byte* first;
  std::size_t stride;
  std::size_t count;
};

template <class T, bool kSwap>
void fill_column(const Strided& from, T* to) {
  for (std::size_t i = 0; i < from.count; ++i) to[i] = load<T, kSwap>(from.first + i * from.stride);
}

template <class T, bool kSwap>
void fill_axis(const Strided& from, Vec3d* to, double Vec3d::*axis, double scale, double shift) {
  for (std::size_t i = 0; i < from.count; ++i) {
    to[i].*axis = static_cast<double>(load<T, kSwap>(from.first + i * from.stride)) * scale - shift;
  }
}

template <class T>
void compact(T* values, Span<const Vec3d> positions, const OpContext& ctx) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < positions.size; ++i) {
    if (i % kPollRows == 0) ctx.checkpoint();
    if (is_finite(positions[i])) values[kept++] = values[i];
  }
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

TableBuilder::TableBuilder(std::vector<TableField> fields, const PositionFrame& frame, std::size_t rows,
                           bool swap_bytes)
    : fields_(std::move(fields)), frame_(frame), swap_bytes_(swap_bytes) {
  table_.positions = Column<Vec3d>(rows);
  for (const TableField& field : fields_) {
    column_of_field_.push_back(table_.columns.size());
    if (field.use != FieldUse::kColumn) continue;
    table_.columns.push_back({field.name, "", field.extra, AnyColumn(field.type, rows)});
  }
}

void TableBuilder::put(std::size_t field, const std::byte* first, std::size_t stride, std::size_t row,
                       std::size_t count) {
  const TableField& spec = fields_[field];
  if (spec.use == FieldUse::kSkip || count == 0) return;
  if (row > rows() || count > rows() - row) throw Error(ErrorCode::kInternal, "rows beyond the table");
  const Strided from{first, stride, count};
  with_type(spec.type, [&](auto sample) {
    using T = decltype(sample);
    if (spec.use == FieldUse::kColumn) {
      T* to = table_.columns[column_of_field_[field]].values.as_mutable<T>().data + row;
      return swap_bytes_ ? fill_column<T, true>(from, to) : fill_column<T, false>(from, to);
    }
    Vec3d* to = table_.positions.view().data + row;
    double Vec3d::*const axis = spec.use == FieldUse::kX   ? &Vec3d::x
                                : spec.use == FieldUse::kY ? &Vec3d::y
                                                           : &Vec3d::z;
    const double scale = frame_.unit_scale, shift = frame_.shift.*axis;
    return swap_bytes_ ? fill_axis<T, true>(from, to, axis, scale, shift)
                       : fill_axis<T, false>(from, to, axis, scale, shift);
  });
}

void TableBuilder::drop_nonfinite(std::size_t rows, OpContext& ctx) {
  const Span<const Vec3d> positions = std::as_const(table_.positions).view().subspan(0, rows);
  ctx.begin_phase("Dropping invalid points", table_.columns.size());
  parallel_for(ctx, table_.columns.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c) {
      AnyColumn& column = table_.columns[c].values;
      with_type(column.dtype(),
                [&](auto sample) { compact(column.as_mutable<decltype(sample)>().data, positions, ctx); });
    }
  });
  Vec3d* xyz = table_.positions.view().data;
  compact(xyz, positions, ctx);
}

CloudTable TableBuilder::finish(std::size_t rows, OpContext& ctx, bool keep_invalid) {
  rows = std::min(rows, this->rows());
  const Span<const Vec3d> positions = std::as_const(table_.positions).view().subspan(0, rows);
  std::atomic<std::uint64_t> nonfinite{0};
  ctx.begin_phase("Checking points", rows);
  parallel_for(ctx, rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::uint64_t count = 0;
    for (std::size_t i = begin; i < end; ++i) count += is_finite(positions[i]) ? 0 : 1;
    nonfinite += count;
  });
  table_.nonfinite_dropped = nonfinite;
  const auto dropped = keep_invalid ? 0 : static_cast<std::size_t>(nonfinite.load());
  if (dropped != 0) drop_nonfinite(rows, ctx);
  table_.positions.shrink(rows - dropped);
  for (NamedColumn& column : table_.columns) column.values.shrink(rows - dropped);
  fields_.clear();
  return std::move(table_);
}

bool same_name(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char p, char q) { return lower(p) == lower(q); });
}

FieldUse use_of_name(const std::string& name) {
  if (same_name(name, "x")) return FieldUse::kX;
  if (same_name(name, "y")) return FieldUse::kY;
  if (same_name(name, "z")) return FieldUse::kZ;
  return FieldUse::kColumn;
}

bool is_extra_name(const std::string& name) {
  static constexpr const char* kKnown[] = {
      "red",         "green",         "blue",         "r",     "g",         "b",
      "diffuse_red", "diffuse_green", "diffuse_blue", "alpha", "intensity", "scalar_intensity",
      "reflectance"};
  return std::none_of(std::begin(kKnown), std::end(kKnown),
                      [&](const char* known) { return same_name(name, known); });
}

}  // namespace pc::io

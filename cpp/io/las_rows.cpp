#include "io/las_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace pc::io::las {

namespace {

/// Bytes decoded for all columns before moving on: they stay in the L2 cache.
constexpr std::size_t kTileBytes = std::size_t{96} << 10;
/// Rows of a column without values that are looked at together.
constexpr std::size_t kBlankRows = 1024;
constexpr std::size_t kLargestElement = 8;  // of the columns besides the positions

bool all_zero(const std::byte* bytes, std::size_t count) {
  return count == 0 || (bytes[0] == std::byte{0} && std::memcmp(bytes, bytes + 1, count - 1) == 0);
}

/// All coordinates are finite if the extreme ones are. The range of the file was checked with the header; this
/// includes the frame.
void check_frame(const LasHeader& header, const PositionFrame& frame) {
  const auto reach = [&](double scale, double offset, double shift) {
    return (std::abs(scale) * 2147483648.0 + std::abs(offset)) * std::abs(frame.unit_scale) + std::abs(shift);
  };
  const bool ok = std::isfinite(reach(header.scale.x, header.offset.x, frame.shift.x)) &&
                  std::isfinite(reach(header.scale.y, header.offset.y, frame.shift.y)) &&
                  std::isfinite(reach(header.scale.z, header.offset.z, frame.shift.z));
  require(ok && frame.unit_scale != 0.0, "unit_scale and shift must be finite, and unit_scale not zero");
}

/// `column` with room for `rows` rows.
AnyColumn grown(const AnyColumn& column, std::size_t rows) {
  AnyColumn larger(column.dtype(), rows);
  if (column.bytes() != 0) std::memcpy(larger.data(), column.data(), column.bytes());
  return larger;
}

}  // namespace

RowColumns::RowColumns(const Opened& opened, const LasReadParams& params, std::size_t rows)
    : header_(opened.header),
      frame_(params.frame),
      rows_(rows),
      used_bytes_(opened.header.record_bytes, false) {
  check_frame(header_, frame_);
  std::fill_n(used_bytes_.begin(), 12, true);
  table_.positions = Column<Vec3d>(rows);
  for (const Field& field : opened.fields) {
    if (params.wanted && !params.wanted(field.dimension)) continue;
    const auto& dimension = field.dimension;
    table_.columns.push_back(
        {dimension.name, dimension.description, dimension.extra, AnyColumn(dimension.dtype, rows)});
    fields_.push_back(&field);
    std::fill_n(used_bytes_.begin() + field.offset, dtype_size(field.stored), true);
  }
  find_outputs();
}

void RowColumns::find_outputs() {
  outputs_.clear();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    AnyColumn& values = table_.columns[i].values;
    outputs_.push_back({fields_[i], values.data(), dtype_size(values.dtype())});
  }
  blank_.resize(outputs_.size(), 1);
}

std::size_t RowColumns::row_bytes() const {
  std::size_t bytes = sizeof(Vec3d);
  for (const Output& output : outputs_) bytes += output.element_bytes;
  return bytes;
}

/// Exact products and sums in float64, no contraction.
void RowColumns::put_positions(const std::uint8_t* records, std::size_t count, Vec3d* out) const {
  const Vec3d scale = header_.scale, offset = header_.offset;
  const std::size_t stride = header_.record_bytes;
  for (std::size_t i = 0; i < count; ++i, records += stride) {
    const Vec3d file{load<std::int32_t>(records) * scale.x + offset.x,
                     load<std::int32_t>(records + 4) * scale.y + offset.y,
                     load<std::int32_t>(records + 8) * scale.z + offset.z};
    out[i] = frame_.apply(file);
  }
}

void RowColumns::put(const std::uint8_t* records, std::size_t first, std::size_t count) {
  const std::size_t stride = header_.record_bytes;
  const std::size_t tile = std::max<std::size_t>(1, kTileBytes / stride);
  Vec3d* positions = table_.positions.view().data;
  for (std::size_t begin = 0; begin < count; begin += tile) {
    const std::size_t rows = std::min(tile, count - begin);
    const std::uint8_t* from = records + begin * stride;
    const std::size_t row = first + begin;
    put_positions(from, rows, positions + row);
    for (std::size_t i = 0; i < outputs_.size(); ++i) put_field(i, from, row, rows);
  }
}

void RowColumns::put_field(std::size_t index, const std::uint8_t* records, std::size_t row,
                           std::size_t count) {
  const Output& output = outputs_[index];
  const std::size_t stride = header_.record_bytes, element = output.element_bytes;
  const std::atomic_ref<std::uint8_t> blank(blank_[index]);
  alignas(64) std::array<std::byte, kBlankRows * kLargestElement> values;
  while (count != 0 && blank.load(std::memory_order_relaxed) != 0 && element <= kLargestElement) {
    const std::size_t rows = std::min(count, kBlankRows);
    decode_field(*output.field, records, stride, rows, values.data());
    if (!all_zero(values.data(), rows * element)) {
      blank.store(0, std::memory_order_relaxed);
      break;
    }
    records += rows * stride;
    row += rows;
    count -= rows;
  }
  if (count != 0) decode_field(*output.field, records, stride, count, output.data + row * element);
}

void RowColumns::grow(std::size_t rows) {
  if (rows <= rows_) return;
  Column<Vec3d> positions(rows);
  if (rows_ != 0) std::memcpy(positions.view().data, table_.positions.view().data, rows_ * sizeof(Vec3d));
  table_.positions = std::move(positions);
  for (NamedColumn& column : table_.columns) column.values = grown(column.values, rows);
  rows_ = rows;
  find_outputs();
}

CloudTable RowColumns::take(std::size_t rows) {
  table_.positions.shrink(rows);
  for (NamedColumn& column : table_.columns) column.values.shrink(rows);
  return std::move(table_);
}

}  // namespace pc::io::las

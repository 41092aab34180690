#include "io/ascii_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pc::io {

namespace {

// A packed chunk is a sequence of batches, every part padded to 8 bytes:
//   u32 rows, u32 filled | u8 Packing[filled] | per filled column its values
enum class Packing : std::uint8_t { kU8, kU16, kI32, kF32, kF64 };

struct BatchHeader {
  std::uint32_t rows, filled;
};

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;
constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

bool fits_float(double v) {
  if (!std::isfinite(v)) return true;
  return std::fabs(v) <= static_cast<double>(std::numeric_limits<float>::max()) &&
         static_cast<double>(static_cast<float>(v)) == v;
}

/// Range and properties of one column of one batch.
struct BatchKind {
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  bool fraction = false, nonfinite = false;
};

BatchKind inspect(Span<const double> values) {
  BatchKind kind;
  for (const double v : values) {
    if (!std::isfinite(v)) {
      kind.nonfinite = true;
      continue;
    }
    kind.min = std::min(kind.min, v);
    kind.max = std::max(kind.max, v);
    if (std::fabs(v) < kTwo63) kind.fraction |= static_cast<double>(static_cast<std::int64_t>(v)) != v;
  }
  return kind;
}

Packing choose_packing(Span<const double> values, const BatchKind& kind) {
  if (!kind.fraction && !kind.nonfinite) {
    if (kind.min >= 0 && kind.max <= 255) return Packing::kU8;
    if (kind.min >= 0 && kind.max <= 65535) return Packing::kU16;
    if (kind.min >= -2147483648.0 && kind.max <= 2147483647.0) return Packing::kI32;
  }
  return std::all_of(values.begin(), values.end(), fits_float) ? Packing::kF32 : Packing::kF64;
}

template <class Visit>
void visit_packing(Packing packing, Visit&& visit) {
  switch (packing) {
    case Packing::kU8:
      return visit(std::uint8_t{});
    case Packing::kU16:
      return visit(std::uint16_t{});
    case Packing::kI32:
      return visit(std::int32_t{});
    case Packing::kF32:
      return visit(float{});
    case Packing::kF64:
      return visit(double{});
  }
}

void unpack_column(Packing packing, const std::byte* from, std::size_t rows, std::size_t first,
                   AnyColumn& to) {
  visit_packing(packing, [&](auto stored) {
    using Stored = decltype(stored);
    const auto* values = reinterpret_cast<const Stored*>(from);
    visit_scalar(to, [&](auto view) {
      using Element = std::remove_const_t<std::remove_reference_t<decltype(view[0])>>;
      Element* out = to.as_mutable<Element>().data + first;
      for (std::size_t i = 0; i < rows; ++i) out[i] = static_cast<Element>(values[i]);
    });
  });
}

/// Column type of a column that has only NaN in these rows.
void fill_missing(std::size_t rows, std::size_t first, AnyColumn& to) {
  if (to.dtype() == DType::kF64) {
    std::fill_n(to.as_mutable<double>().data + first, rows, std::numeric_limits<double>::quiet_NaN());
  } else {
    std::fill_n(to.as_mutable<float>().data + first, rows, std::numeric_limits<float>::quiet_NaN());
  }
}

/// Unpacks the batch at `p` to rows [first_row, ...), advances `first_row` past them, and returns the end of the batch.
const std::byte* unpack_batch(const std::byte* p, std::size_t& first_row, std::vector<AnyColumn>& columns) {
  BatchHeader header;
  std::memcpy(&header, p, sizeof header);
  p += sizeof header;
  const auto* packings = reinterpret_cast<const Packing*>(p);
  p += padded(header.filled);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    AnyColumn& column = columns[c];
    if (c >= header.filled) {
      if (column.size() != 0) fill_missing(header.rows, first_row, column);
      continue;
    }
    if (column.size() != 0) unpack_column(packings[c], p, header.rows, first_row, column);
    visit_packing(packings[c], [&](auto stored) { p += padded(header.rows * sizeof stored); });
  }
  first_row += header.rows;
  return p;
}

}  // namespace

void ColumnStats::merge(const ColumnStats& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  has_fraction |= other.has_fraction;
  has_nonfinite |= other.has_nonfinite;
  needs_double |= other.needs_double;
  inexact_whole |= other.inexact_whole;
  not_numbers += other.not_numbers;
  if (other.first_not_number < first_not_number) {
    first_not_number = other.first_not_number;
    not_number_text = other.not_number_text;
  }
  rounded += other.rounded;
  first_rounded = std::min(first_rounded, other.first_rounded);
}

DType column_type(const ColumnStats& stats, TextColumnType wanted) {
  if (wanted == TextColumnType::kF64) return DType::kF64;
  const DType floating = stats.needs_double ? DType::kF64 : DType::kF32;
  if (wanted == TextColumnType::kFloat || stats.has_fraction || stats.has_nonfinite || stats.inexact_whole) {
    return floating;
  }
  const double lo = stats.min, hi = stats.max;
  if (lo >= 0 && hi <= 255) return DType::kU8;
  if (lo >= -128 && hi <= 127) return DType::kI8;
  if (lo >= 0 && hi <= 65535) return DType::kU16;
  if (lo >= -32768 && hi <= 32767) return DType::kI16;
  if (lo >= 0 && hi <= 4294967295.0) return DType::kU32;
  if (lo >= -2147483648.0 && hi <= 2147483647.0) return DType::kI32;
  if (lo >= 0 && hi < kTwo64) return DType::kU64;
  if (lo >= -kTwo63 && hi < kTwo63) return DType::kI64;
  return floating;
}

std::byte* PackedRows::append(std::size_t bytes) {
  if (blocks_.empty() || blocks_.back().used + bytes > blocks_.back().pages.bytes()) {
    blocks_.push_back({PageBlock::allocate(std::max(bytes, kBlockBytes)), 0});
  }
  Block& block = blocks_.back();
  std::byte* at = block.pages.data() + block.used;
  block.used += bytes;
  bytes_ += bytes;
  return at;
}

void pack_batch(const RowBatch& batch, std::vector<ColumnStats>& stats, PackedRows& packed) {
  if (batch.rows == 0) return;
  std::vector<Packing> packings(batch.filled);
  for (std::size_t c = 0; c < batch.filled; ++c) {
    const Span<const double> values{batch.values.data + c * batch.capacity, batch.rows};
    const BatchKind kind = inspect(values);
    packings[c] = choose_packing(values, kind);
    stats[c].min = std::min(stats[c].min, kind.min);
    stats[c].max = std::max(stats[c].max, kind.max);
    stats[c].has_fraction |= kind.fraction;
    stats[c].has_nonfinite |= kind.nonfinite;
  }
  for (std::size_t c = batch.filled; c < batch.columns; ++c) stats[c].has_nonfinite = true;

  std::size_t bytes = sizeof(BatchHeader) + padded(batch.filled);
  for (const Packing packing : packings) {
    visit_packing(packing, [&](auto stored) { bytes += padded(batch.rows * sizeof stored); });
  }
  std::byte* p = packed.append(bytes);
  const BatchHeader header{static_cast<std::uint32_t>(batch.rows), static_cast<std::uint32_t>(batch.filled)};
  std::memcpy(p, &header, sizeof header);
  p += sizeof header;
  if (batch.filled != 0) std::memcpy(p, packings.data(), batch.filled);
  p += padded(batch.filled);
  for (std::size_t c = 0; c < batch.filled; ++c) {
    const double* values = batch.values.data + c * batch.capacity;
    visit_packing(packings[c], [&](auto stored) {
      using Stored = decltype(stored);
      auto* out = reinterpret_cast<Stored*>(p);
      for (std::size_t i = 0; i < batch.rows; ++i) out[i] = static_cast<Stored>(values[i]);
      p += padded(batch.rows * sizeof stored);
    });
  }
}

void unpack_rows(const PackedRows& packed, std::size_t first_row, std::vector<AnyColumn>& columns) {
  for (const PackedRows::Block& block : packed.blocks()) {
    const std::byte* p = block.pages.data();
    for (const std::byte* const end = p + block.used; p != end;) p = unpack_batch(p, first_row, columns);
  }
}

}  // namespace pc::io

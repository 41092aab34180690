#include "io/las_encode.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "io/las_coding.h"

namespace pc::io::las {

namespace {

template <class T>
void scatter_bits(Span<const T> values, const Target& target, Span<const std::size_t> rows,
                  std::size_t stride, std::uint8_t* records) {
  std::uint8_t* to = records + target.offset;
  const unsigned shift = target.shift;  // a copy: stores of bytes could change the original
  for (const std::size_t row : rows) {
    *to = static_cast<std::uint8_t>(
        *to | (static_cast<std::uint32_t>(static_cast<std::int64_t>(values[row])) << shift));
    to += stride;
  }
}

/// The values were checked to fit, so the low bits of the whole number are its value in the narrower type.
template <class Stored, class T>
void scatter_integer(Span<const T> values, const Target& target, Span<const std::size_t> rows,
                     std::size_t stride, std::uint8_t* records) {
  std::uint8_t* to = records + target.offset;
  for (const std::size_t row : rows) {
    store(to, static_cast<Stored>(static_cast<std::int64_t>(values[row])));
    to += stride;
  }
}

template <class Stored>
void scatter_raw(const std::byte* values, std::uint16_t offset, Span<const std::size_t> rows,
                 std::size_t stride, std::uint8_t* records) {
  std::uint8_t* to = records + offset;
  for (const std::size_t row : rows) {
    std::memcpy(to, values + row * sizeof(Stored), sizeof(Stored));
    to += stride;
  }
}

/// Calls visit with a value of the type in the record.
template <class Visit>
auto visit_stored(DType stored, Visit&& visit) {
  switch (stored) {
    case DType::kU8:
      return visit(std::uint8_t{});
    case DType::kI8:
      return visit(std::int8_t{});
    case DType::kU16:
      return visit(std::uint16_t{});
    case DType::kI16:
      return visit(std::int16_t{});
    case DType::kU32:
      return visit(std::uint32_t{});
    case DType::kI32:
      return visit(std::int32_t{});
    case DType::kU64:
      return visit(std::uint64_t{});
    case DType::kI64:
      return visit(std::int64_t{});
    case DType::kF32:
      return visit(float{});
    default:
      return visit(double{});
  }
}

/// raw(row) returns the number to store for a row of the column, or nothing.
template <class T>
auto raw_of(const Coding& coding, const AnyColumn& column) {
  return [&coding, &column](std::size_t row) -> std::optional<T> {
    if (coding.scaled) {
      return scaled_raw<T>(coding, reinterpret_cast<const double*>(column.data())[row]);
    }
    const T value = reinterpret_cast<const T*>(column.data())[row];
    if constexpr (std::is_floating_point_v<T>) {
      return blanked_raw<T>(coding, value);
    } else {
      return value;
    }
  };
}

void scatter_coded(const Target& target, Span<const std::size_t> rows, std::size_t stride,
                   std::uint8_t* records) {
  visit_stored(target.coding->stored, [&](auto type) {
    const auto raw = raw_of<decltype(type)>(*target.coding, *target.values);
    std::uint8_t* to = records + target.offset;
    for (const std::size_t row : rows) {
      store(to, raw(row).value_or(type));  // never empty: coding_fits checked every row
      to += stride;
    }
  });
}

void scatter(const Target& target, Span<const std::size_t> rows, std::size_t stride, std::uint8_t* records) {
  if (target.coding) return scatter_coded(target, rows, stride, records);
  if (target.bits != 0 || target.as_integer) {
    visit_scalar(*target.values, [&](auto values) {
      if (target.bits != 0) return scatter_bits(values, target, rows, stride, records);
      if (target.bytes == 1) return scatter_integer<std::uint8_t>(values, target, rows, stride, records);
      return scatter_integer<std::uint16_t>(values, target, rows, stride, records);
    });
    return;
  }
  const std::byte* values = target.values->data();
  switch (target.bytes) {
    case 1:
      return scatter_raw<std::uint8_t>(values, target.offset, rows, stride, records);
    case 2:
      return scatter_raw<std::uint16_t>(values, target.offset, rows, stride, records);
    case 4:
      return scatter_raw<std::uint32_t>(values, target.offset, rows, stride, records);
    default:
      return scatter_raw<std::uint64_t>(values, target.offset, rows, stride, records);
  }
}

void scatter_positions(const CloudView& view, const Vec3d& scale, const Vec3d& offset,
                       Span<const std::size_t> rows, std::size_t stride, std::uint8_t* records) {
  const auto step = [](double value, double scale_m, double offset_m) {
    return static_cast<std::int32_t>(std::llrint((value - offset_m) / scale_m));
  };
  for (const std::size_t row : rows) {
    const Vec3d p = view.positions[row] + view.offset;
    store(records, step(p.x, scale.x, offset.x));
    store(records + 4, step(p.y, scale.y, offset.y));
    store(records + 8, step(p.z, scale.z, offset.z));
    records += stride;
  }
}

void scatter_origins(const CloudView& view, std::uint16_t offset, Span<const std::size_t> rows,
                     std::size_t stride, std::uint8_t* records) {
  std::uint8_t* to = records + offset;
  for (const std::size_t row : rows) {
    store(to, view.beam_origins[row] + view.offset);
    to += stride;
  }
}

/// Counts return numbers, and makes every point return 1 of 1 if the view has none.
void count_returns(const RecordPlan& plan, Span<const std::size_t> rows, std::uint8_t* records,
                   ReturnCounts& returns) {
  const unsigned width = plan.point_format >= 6 ? 4 : 3, mask = (1U << width) - 1U;
  const auto filler = static_cast<std::uint8_t>((plan.has_return_number ? 0U : 1U) |
                                                (plan.has_return_count ? 0U : 1U << width));
  std::uint8_t* to = records + 14;
  for (std::size_t i = 0; i < rows.size; ++i, to += plan.record_bytes) {
    *to |= filler;
    ++returns[*to & mask];
  }
}

}  // namespace

RowBlocks::RowBlocks(const CloudView& view, std::size_t grain, OpContext& ctx) : view_(view), grain_(grain) {
  const std::size_t n = view.positions.size;
  std::uint64_t kept = n;
  if (!view.skip.empty()) {
    const std::size_t blocks = (n + grain - 1) / grain;
    kept_before_.resize(blocks);
    parallel_for(ctx, n, grain, [&](std::size_t begin, std::size_t end) {
      std::uint64_t count = 0;
      for (std::size_t i = begin; i < end; ++i) count += view.skip[i] == 0;
      kept_before_[begin / grain] = count;
    });
    kept = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::uint64_t count = kept_before_[block];
      kept_before_[block] = kept;
      kept += count;
    }
  }
  total_ = (kept + view.stride - 1) / view.stride;
}

void RowBlocks::collect(std::size_t begin, std::size_t end, std::vector<std::size_t>& rows) const {
  if (all()) {
    rows.resize(end - begin);
    std::iota(rows.begin(), rows.end(), begin);
    return;
  }
  rows.clear();
  const bool skips = !view_.skip.empty();
  // Number of rows until the next one written; row k of the kept rows is written if k is a multiple of the stride.
  std::size_t wait =
      static_cast<std::size_t>((view_.stride - kept_before(begin / grain_) % view_.stride) % view_.stride);
  for (std::size_t i = begin; i < end; ++i) {
    if (skips && view_.skip[i] != 0) continue;
    if (wait == 0) {
      rows.push_back(i);
      wait = view_.stride;
    }
    --wait;
  }
}

std::optional<Coding> coding_of(const LasExtraRecord& record, DType column) {
  Coding coding;
  coding.stored = record.stored;
  coding.scaled = record.scale || record.offset;
  coding.scale = record.scale.value_or(1.0);
  coding.shift_by = record.offset.value_or(0.0);
  coding.has_no_data = record.no_data_bits.has_value();
  coding.no_data_bits = record.no_data_bits.value_or(0);
  if (column != (coding.scaled ? DType::kF64 : record.stored)) return std::nullopt;
  if (!std::isfinite(coding.scale) || coding.scale == 0.0 || !std::isfinite(coding.shift_by))
    return std::nullopt;
  return coding;
}

bool coding_fits(const Coding& coding, const AnyColumn& values, const RowBlocks& blocks, OpContext& ctx) {
  if (!coding.scaled &&
      (!coding.has_no_data || (coding.stored != DType::kF32 && coding.stored != DType::kF64)))
    return true;
  std::atomic<bool> fits{true};
  visit_stored(coding.stored, [&](auto type) {
    const auto raw = raw_of<decltype(type)>(coding, values);
    parallel_for(ctx, values.size(), blocks.grain(), [&](std::size_t begin, std::size_t end) {
      if (!fits.load(std::memory_order_relaxed)) return;
      std::vector<std::size_t> rows;
      blocks.collect(begin, end, rows);
      const bool good =
          std::all_of(rows.begin(), rows.end(), [&](std::size_t row) { return raw(row).has_value(); });
      if (!good) fits.store(false, std::memory_order_relaxed);
    });
  });
  return fits;
}

void encode_rows(const CloudView& view, const RecordPlan& plan, const Vec3d& scale, const Vec3d& offset,
                 Span<const std::size_t> rows, std::uint8_t* records, ReturnCounts& returns) {
  const std::size_t stride = plan.record_bytes;
  const PointLayout& layout = kPointLayouts[plan.point_format];
  for (std::size_t i = 0; i < rows.size; ++i) std::memcpy(records + i * stride, plan.blank.data(), stride);
  scatter_positions(view, scale, offset, rows, stride, records);
  const auto bytes_of = [](const void* data) { return static_cast<const std::byte*>(data); };
  if (!view.intensity.empty())
    scatter_raw<std::uint16_t>(bytes_of(view.intensity.data), 12, rows, stride, records);
  if (plan.gps_time == nullptr && !view.timestamps.empty()) {
    scatter_raw<double>(bytes_of(view.timestamps.data), layout.gps_time, rows, stride, records);
  }
  if (layout.rgb != 0 && !view.colors.empty())
    scatter_raw<Rgb16>(bytes_of(view.colors.data), layout.rgb, rows, stride, records);
  for (const Target& target : plan.targets) scatter(target, rows, stride, records);
  if (plan.origin_offset != 0) scatter_origins(view, plan.origin_offset, rows, stride, records);
  count_returns(plan, rows, records, returns);
}

}  // namespace pc::io::las

#include "ops/cloud/merge_frames.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/atomic.h"
#include "core/dtype_fit.h"
#include "core/gather.h"
#include "ops/cloud/kept_rows.h"

namespace pc {

namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

bool is_triple(DType dtype) { return dtype == DType::kVec3d || dtype == DType::kRgb16; }

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

std::string text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void check(const MergePart& part, const MergeParams& params) {
  const bool moved = part.offset.x != 0 || part.offset.y != 0 || part.offset.z != 0;
  require(is_finite(part.offset), "an offset must be three finite numbers");
  require(!moved || params.dtype == DType::kVec3d, "only triples of vec3d take an offset");
  if (part.column == nullptr) return;
  require(part.column->size() == part.rows, "a part's column must have as many values as the part has rows");
  const DType from = part.column->dtype();
  if (from != params.dtype && (is_triple(from) || is_triple(params.dtype)))
    refuse(std::string("a column of ") + dtype_name(from) + " cannot become " + dtype_name(params.dtype));
}

/// The fill value as one element.
AnyColumn fill_element(DType dtype, double fill) {
  AnyColumn element(dtype, 1);
  bool fits = true;
  if (dtype == DType::kVec3d) {
    element.as_mutable<Vec3d>()[0] = {fill, fill, fill};
  } else if (dtype == DType::kRgb16) {
    std::uint16_t channel = 0;
    fits = exact_cast(fill, channel);
    element.as_mutable<Rgb16>()[0] = {channel, channel, channel};
  } else {
    visit_scalar_type(dtype, [&](auto type) {
      fits = exact_cast(fill, element.as_mutable<typename decltype(type)::type>()[0]);
    });
  }
  if (!fits) refuse("the fill value " + text(fill) + " does not fit " + dtype_name(dtype));
  return element;
}

/// Copies kept rows without conversion; `rows` as from KeptRows::list, nullptr = all.
void copy_rows(std::size_t size, const std::byte* from, const std::uint32_t* rows, std::size_t count,
               std::byte* to) {
  if (rows == nullptr) {
    std::memcpy(to, from, count * size);
    return;
  }
  gather_rows(size, from, rows, count, to);
}

/// Writes one part at its position in the result.
class PartWriter {
 public:
  PartWriter(const MergePart& part, const KeptRows& kept, AnyColumn& out, std::size_t place)
      : part_(part), kept_(kept), out_(out), place_(place), size_(dtype_size(out.dtype())) {}

  void write(const AnyColumn& fill, OpContext& ctx) {
    const bool moved = part_.offset.x != 0 || part_.offset.y != 0 || part_.offset.z != 0;
    if (part_.column != nullptr && part_.column->dtype() != out_.dtype())
      convert_ = row_converter(part_.column->dtype(), out_.dtype());
    std::byte* const base = out_.data();
    parallel_for(ctx, part_.rows, KeptRows::kBlock, [&](std::size_t begin, std::size_t) {
      const std::size_t block = begin / KeptRows::kBlock, count = kept_.kept_in(block);
      std::byte* const to = base + (place_ + kept_.start(block)) * size_;
      std::uint32_t listed[KeptRows::kBlock];
      const std::uint32_t* const rows = kept_.all_kept_in(block) ? nullptr : listed;
      if (rows != nullptr) kept_.list(block, listed);
      if (part_.column == nullptr) {
        for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * size_, fill.data(), size_);
        return;
      }
      const std::byte* const from = part_.column->data() + begin * dtype_size(part_.column->dtype());
      if (convert_ == nullptr) {
        copy_rows(size_, from, rows, count, to);
      } else if (const std::size_t done = convert_(from, rows, count, to); done != count) {
        atomic_min(&unfit_row_, begin + (rows == nullptr ? done : rows[done]));
      }
      if (moved) {
        auto* const points = reinterpret_cast<Vec3d*>(to);
        for (std::size_t i = 0; i < count; ++i) points[i] = points[i] + part_.offset;
      }
    });
    if (unfit_row_ != kNone) refuse_row(static_cast<std::size_t>(unfit_row_));
  }

 private:
  [[noreturn]] void refuse_row(std::size_t row) const {
    const std::string value = visit_scalar(*part_.column, [&](auto values) -> std::string {
      if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(values[0])>>) {
        return text(static_cast<double>(values[row]));
      } else {
        return std::to_string(values[row]);
      }
    });
    refuse("value " + value + " of row " + std::to_string(row) + " does not fit " + dtype_name(out_.dtype()));
  }

  const MergePart& part_;
  const KeptRows& kept_;
  AnyColumn& out_;
  std::size_t place_, size_;
  ConvertRows convert_ = nullptr;
  std::uint64_t unfit_row_ = kNone;
};

}  // namespace

AnyColumn merge_frames(const std::vector<MergePart>& parts, const MergeParams& params, OpContext& ctx) {
  std::uint64_t rows = 0;
  for (const MergePart& part : parts) {
    check(part, params);
    rows += part.rows;
  }
  ctx.begin_phase("Merging columns", rows);
  std::vector<AnyColumn> fills;
  for (const MergePart& part : parts) {
    fills.push_back(part.column == nullptr ? fill_element(params.dtype, part.fill.value_or(params.fill))
                                           : AnyColumn(params.dtype, 0));
  }
  std::vector<KeptRows> kept;
  std::size_t total = 0;
  for (const MergePart& part : parts) total += kept.emplace_back(part.rows, part.drop, ctx).kept_count();
  ctx.begin_phase("Merging columns", rows);
  AnyColumn out(params.dtype, total);
  std::size_t place = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    PartWriter(parts[p], kept[p], out, place).write(fills[p], ctx);
    place += kept[p].kept_count();
  }
  return out;
}

}  // namespace pc

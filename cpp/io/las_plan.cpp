#include "io/las_plan.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "core/error.h"
#include "core/parallel.h"

namespace pc::io::las {

namespace {

struct Range {
  double low, high;
};

Range range_of(const StandardField& field) {
  if (field.bits != 0) return {0.0, static_cast<double>((1U << field.bits) - 1U)};
  switch (field.dtype) {
    case DType::kU8:
      return {0.0, 255.0};
    case DType::kI8:
      return {-128.0, 127.0};
    case DType::kI16:
      return {-32768.0, 32767.0};
    default:
      return {0.0, 65535.0};
  }
}

/// True if the values at rows(0), rows(1), ... rows(count - 1) are whole numbers within the range.
template <class T, class Rows>
bool all_fit(Span<const T> values, const Range& range, std::size_t count, const Rows& rows) {
  bool good = true;
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
    using Limits = std::numeric_limits<T>;
    const double least = std::max(range.low, static_cast<double>(Limits::min()));
    const double most = std::min(range.high, static_cast<double>(Limits::max()));
    if (least > most) return count == 0;
    const auto low = static_cast<T>(least), high = static_cast<T>(most);
    T smallest = low, largest = high;
    for (std::size_t i = 0; i < count; ++i) {
      const T value = values.data[rows(i)];
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
    return smallest == low && largest == high;
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(values.data[rows(i)]);
      good = good && value >= range.low && value <= range.high && std::trunc(value) == value;
    }
  }
  return good;
}

/// True if every value of the type is.
template <class T>
bool type_fits(Span<const T>, const Range& range) {
  using Limits = std::numeric_limits<T>;
  return std::is_integral_v<T> && sizeof(T) <= 2 && static_cast<double>(Limits::min()) >= range.low &&
         static_cast<double>(Limits::max()) <= range.high;
}

/// True if every written value is a whole number within the range.
bool values_fit(const AnyColumn& column, const Range& range, const RowBlocks& blocks, OpContext& ctx) {
  std::atomic<bool> fit{true};
  visit_scalar(column, [&](auto values) {
    if (type_fits(values, range)) return ctx.advance(values.size);
    parallel_for(ctx, values.size, blocks.grain(), [&](std::size_t begin, std::size_t end) {
      if (!fit.load(std::memory_order_relaxed)) return;
      bool good = false;
      if (blocks.all()) {
        good = all_fit(values, range, end - begin, [&](std::size_t i) { return begin + i; });
      } else {
        std::vector<std::size_t> rows;
        blocks.collect(begin, end, rows);
        good = all_fit(values, range, rows.size(), [&](std::size_t i) { return rows[i]; });
      }
      if (!good) fit.store(false, std::memory_order_relaxed);
    });
  });
  return fit;
}

bool holds(const StandardField& field, double value) {
  if (field.dtype == DType::kF64) return true;
  if (field.dtype == DType::kF32) return static_cast<double>(static_cast<float>(value)) == value;
  if (std::trunc(value) != value) return false;
  if (field.dtype == DType::kU64) return value >= 0 && value <= 0x1p53;
  if (field.dtype == DType::kU32) return value >= 0 && value <= 4294967295.0;
  const Range range = range_of(field);
  return value >= range.low && value <= range.high;
}

/// Writes a value that `field` holds to `at`.
void put(std::uint8_t* at, const StandardField& field, double value) {
  if (field.bits != 0) {
    *at = static_cast<std::uint8_t>(*at | (static_cast<unsigned>(value) << field.shift));
    return;
  }
  if (field.dtype == DType::kF64) return store(at, value);
  if (field.dtype == DType::kF32) return store(at, static_cast<float>(value));
  const auto whole = static_cast<std::int64_t>(value);
  std::memcpy(at, &whole, dtype_size(field.dtype));  // little-endian: the low bytes come first
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Cuts text to at most `bytes` bytes without cutting a UTF-8 character.
std::string cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

/// Chooses the position of every column.
class Planner {
 public:
  Planner(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
          LasWriteResult& result, OpContext& ctx)
      : view_(view), params_(params), blocks_(blocks), result_(result), ctx_(ctx) {
    choose_format(params);
    for (const StandardField& field : standard_fields(8)) reserved_.insert(field.name);
    for (const StandardField& field : standard_fields(3)) reserved_.insert(field.name);
    for (const char* name : {"x", "y", "z", "red", "green", "blue"}) reserved_.insert(name);
  }

  RecordPlan plan() {
    plan_.record_bytes = kPointLayouts[plan_.point_format].bytes;
    for (const ScalarView& scalar : view_.scalars) {
      if (!place_standard(scalar)) place_extra(scalar);
    }
    if (!view_.beam_origins.empty()) {
      plan_.origin_offset = static_cast<std::uint16_t>(plan_.record_bytes);
      for (const char* axis : {"x", "y", "z"}) {
        plan_.extras.push_back({unique(std::string("origin_") + axis, std::string("origin_") + axis, true),
                                std::string("beam origin ") + axis, DType::kF64, std::nullopt});
        plan_.record_bytes += sizeof(double);
      }
    }
    blanks_.assign(plan_.record_bytes, 0);
    for (const LasConstant& constant : params_.constants) place_constant(constant);
    plan_.blank = std::move(blanks_);
    if (plan_.extras.size() > kMaxExtraDimensions) {
      throw Error(ErrorCode::kUnsupported,
                  std::to_string(plan_.extras.size()) + " extra columns; a LAS file holds at most " +
                      std::to_string(kMaxExtraDimensions) + ". Choose fewer columns");
    }
    if (plan_.has_return_number != plan_.has_return_count) {
      result_.warnings.push_back(
          plan_.has_return_count
              ? "number_of_returns is given without return_number; every point is written as return 1"
              : "return_number is given without number_of_returns, which is written as 1");
    }
    return std::move(plan_);
  }

 private:
  void choose_format(const LasWriteParams& params) {
    const bool colored = !view_.colors.empty() || has_constant("rgb");
    if (params.version == LasVersion::k14 && !params.legacy_points) {
      const bool infrared =
          std::any_of(
              view_.scalars.begin(), view_.scalars.end(),
              [&](const ScalarView& scalar) {
                return field_of(scalar) == "nir" && values_fit(*scalar.values, {0.0, 65535.0}, blocks_, ctx_);
              }) ||
          has_constant("nir");
      plan_.point_format = !colored ? 6 : infrared ? 8 : 7;
    } else {
      const bool timed = !view_.timestamps.empty() || find_time() != nullptr || has_constant("gps_time");
      plan_.point_format = (colored ? 2 : 0) + (timed ? 1 : 0);
    }
    if (view_.timestamps.empty()) plan_.gps_time = find_time();
  }

  bool has_constant(const char* field) const {
    return std::any_of(params_.constants.begin(), params_.constants.end(),
                       [&](const LasConstant& constant) { return constant.field == field; });
  }

  const AnyColumn* find_time() const {
    for (const ScalarView& scalar : view_.scalars) {
      if (field_of(scalar) == "gps_time" && scalar.values->dtype() == DType::kF64) return scalar.values;
    }
    return nullptr;
  }

  const LasPlacement* placement(const ScalarView& scalar) const {
    for (const LasPlacement& wish : params_.placements) {
      if (wish.slug == scalar.slug) return &wish;
    }
    return nullptr;
  }
  std::string field_of(const ScalarView& scalar) const {
    const LasPlacement* wish = placement(scalar);
    return wish == nullptr ? scalar.slug : wish->record ? "" : wish->field;
  }

  bool place_standard(const ScalarView& scalar) {
    const std::uint16_t time_at = kPointLayouts[plan_.point_format].gps_time;
    const std::string name = field_of(scalar);
    if (scalar.values == plan_.gps_time && name == "gps_time" && used_.insert("gps_time").second) {
      plan_.targets.push_back({scalar.values, time_at, 0, 0, 8, false});
      return true;
    }
    if (name == "intensity" && !view_.intensity.empty()) return false;
    for (const StandardField& field : standard_fields(plan_.point_format)) {
      if (name != field.name || field.dtype == DType::kRgb16 || field.dtype == DType::kF64) continue;
      if (used_.count(name) != 0) return false;
      if (!values_fit(*scalar.values, range_of(field), blocks_, ctx_)) {
        const Range range = range_of(field);
        result_.warnings.push_back(scalar.slug + ": some values are not whole numbers from " +
                                   std::to_string(static_cast<int>(range.low)) + " to " +
                                   std::to_string(static_cast<int>(range.high)) +
                                   ", which the LAS field requires; the column becomes an extra dimension");
        return false;
      }
      used_.insert(name);
      plan_.targets.push_back({scalar.values, field.offset, field.shift, field.bits,
                               static_cast<std::uint8_t>(dtype_size(field.dtype)), true});
      note_returns(name);
      return true;
    }
    return false;
  }

  void place_extra(const ScalarView& scalar) {
    const LasPlacement* wish = placement(scalar);
    Target target{scalar.values, static_cast<std::uint16_t>(plan_.record_bytes), 0, 0, 0, false,
                  std::nullopt};
    ExtraDimension extra{scalar.slug, cut(scalar.label, 32), scalar.values->dtype(), std::nullopt};
    if (wish != nullptr && wish->record) {
      target.coding = coding_of(*wish->record, extra.dtype);
      if (target.coding && !coding_fits(*target.coding, *scalar.values, blocks_, ctx_)) {
        target.coding.reset();
        result_.warnings.push_back(scalar.slug +
                                   ": the scale, offset or no-data value of its source would change some "
                                   "values; they are stored as they are, without these");
      }
      if (target.coding) {
        extra.record = wish->record;
        extra.dtype = wish->record->stored;
      }
      extra.description = cut(wish->record->description, 32);
      extra.name = unique(wish->record->name, scalar.slug, false);
    } else {
      extra.name = unique(scalar.slug, scalar.slug, true);
    }
    target.bytes = static_cast<std::uint8_t>(dtype_size(extra.dtype));
    plan_.record_bytes += target.bytes;
    plan_.targets.push_back(target);
    plan_.extras.push_back(std::move(extra));
  }

  void note_returns(const std::string& field) {
    if (field == "return_number") plan_.has_return_number = true;
    if (field == "number_of_returns") plan_.has_return_count = true;
  }

  bool filled_by_column(const std::string& field) const {
    if (field == "rgb") return !view_.colors.empty();
    if (field == "intensity" && !view_.intensity.empty()) return true;
    if (field == "gps_time" && !view_.timestamps.empty()) return true;
    return used_.count(field) != 0;
  }

  void place_constant(const LasConstant& constant) {
    if (constant.field == "rgb" || filled_by_column(constant.field)) return;
    used_.insert(constant.field);
    for (const StandardField& field : standard_fields(plan_.point_format)) {
      if (constant.field != field.name) continue;
      if (!holds(field, constant.value)) break;
      put(blanks_.data() + field.offset, field, constant.value);
      return note_returns(constant.field);
    }
    if (constant.value != 0) append_constant(constant);
  }

  /// An extra dimension of the type that the field has in the formats that have it.
  void append_constant(const LasConstant& constant) {
    for (const int format : {10, 5}) {
      for (StandardField field : standard_fields(format)) {
        if (constant.field != field.name) continue;
        field.bits = field.shift = 0;
        if (!holds(field, constant.value)) {
          throw Error(ErrorCode::kInvalidArgument,
                      constant.field + " cannot be " + number_text(constant.value));
        }
        plan_.extras.push_back(
            {unique(constant.field, constant.field, true), field.description, field.dtype, std::nullopt});
        blanks_.resize(plan_.record_bytes + dtype_size(field.dtype));
        put(blanks_.data() + plan_.record_bytes, field, constant.value);
        plan_.record_bytes = blanks_.size();
        return;
      }
    }
    throw Error(ErrorCode::kInvalidArgument, "'" + constant.field + "' is no field of a LAS point");
  }

  /// A name of at most 32 bytes that no other dimension has (and with `free`, no field); a change is reported.
  std::string unique(const std::string& wanted, const std::string& slug, bool free) {
    std::string name = wanted.empty() ? "field" : wanted;
    if (free && reserved_.count(lower(name)) != 0) name += "_field";
    std::string candidate = cut(name, 32);
    // Names that begin alike have the same candidates: no lower number has become free.
    int& next = next_number_.try_emplace(candidate, 2).first->second;
    while (!extra_names_.insert(candidate).second) {
      const std::string suffix = std::string("_").append(std::to_string(next++));
      candidate = cut(name, 32 - suffix.size()) + suffix;
    }
    if (candidate != wanted) {
      result_.warnings.push_back("the column '" + slug + "' is named '" + candidate + "' in the file");
    }
    return candidate;
  }

  const CloudView& view_;
  const LasWriteParams& params_;
  const RowBlocks& blocks_;
  LasWriteResult& result_;
  OpContext& ctx_;
  RecordPlan plan_;
  std::set<std::string> reserved_, used_, extra_names_;
  std::map<std::string, int> next_number_;  ///< of names whose first 32 bytes are taken
  std::vector<std::uint8_t> blanks_;        ///< becomes plan_.blank
};

}  // namespace

RecordPlan plan_record(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                       LasWriteResult& result, OpContext& ctx) {
  return Planner(view, params, blocks, result, ctx).plan();
}

}  // namespace pc::io::las

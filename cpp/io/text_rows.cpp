#include "io/text_rows.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>

#include "core/parallel.h"
#include "io/cloud_view_checks.h"
#include "io/column_names.h"
#include "io/text_format.h"

namespace pc::io {

namespace {

using namespace text_format;

constexpr double kFloatLimit = 1e4;        // float32 steps by 1 mm at 1e4 m
constexpr double kIntegralLimit = 0x1p53;  // above this every double is integral

bool is_float(DType type) { return type == DType::kF32 || type == DType::kF64; }

/// The PLY type for a column's values; PLY has none for 64-bit whole numbers.
const char* ply_type(DType type) {
  switch (type) {
    case DType::kU8:
      return "uchar";
    case DType::kI8:
      return "char";
    case DType::kU16:
      return "ushort";
    case DType::kI16:
      return "short";
    case DType::kU32:
      return "uint";
    case DType::kI32:
      return "int";
    case DType::kF32:
      return "float";
    default:
      return "double";
  }
}

/// A header cell that a spreadsheet neither splits nor evaluates.
std::string csv_cell(std::string name) {
  if (!name.empty() && std::string("=+-@\t\r").find(name[0]) != std::string::npos) name.insert(0, 1, '\'');
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string cell = "\"";
  for (const char c : name) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

/// The view without the columns that the file does not carry.
CloudView filtered(CloudView view, const TextWriteParams& params) {
  const bool all = params.format != TextFormat::kObj;
  if (!all || !params.colors) view.colors = {};
  if (!all || !params.intensity) view.intensity = {};
  if (!all || !params.timestamps) view.timestamps = {};
  if (!all || !params.beam_origins) view.beam_origins = {};
  if (!all || !params.scalars) view.scalars.clear();
  check_columns(view);
  return view;
}

/// Properties of a column's written values.
struct Look {
  bool integral = true, rounded = false;
};

/// True if the text with six decimals reads back as the same value.
template <class T>
bool survives(T value) {
  if (!std::isfinite(value)) return true;
  const auto real = static_cast<double>(value);
  return static_cast<T>(std::nearbyint(real * 1e6) / 1e6) == value || std::fabs(real) >= kIntegralLimit;
}

template <class T>
Look look_at(Span<const T> values, const RowSelection& rows, OpContext& ctx) {
  std::atomic<bool> integral{true}, rounded{false};
  if constexpr (std::is_floating_point_v<T>) {
    parallel_for(ctx, values.size, rows.block_rows(), [&](std::size_t begin, std::size_t end) {
      if (!integral.load(std::memory_order_relaxed) && rounded.load(std::memory_order_relaxed)) return;
      bool whole = true, exact = true;
      rows.for_each(begin, end, [&](std::size_t i) {
        const auto v = static_cast<double>(values[i]);
        const bool whole_value = std::trunc(v) == v && std::fabs(v) <= kIntegralLimit;
        whole = whole && (!std::isfinite(v) || whole_value);
        exact = exact && (whole_value || survives(values[i]));
      });
      if (!whole) integral = false;
      if (!exact) rounded = true;
    });
  }
  return {integral, rounded};
}

bool any_changes(Span<const std::uint16_t> intensity, int decimals, const RowSelection& rows,
                 OpContext& ctx) {
  std::atomic<bool> any{false};
  parallel_for(ctx, intensity.size, rows.block_rows(), [&](std::size_t begin, std::size_t end) {
    if (any.load(std::memory_order_relaxed)) return;
    bool changes = false;
    rows.for_each(begin, end,
                  [&](std::size_t i) { changes = changes || changes_unit16(intensity[i], decimals); });
    if (changes) any = true;
  });
  return any;
}

}  // namespace

RowSelection::RowSelection(const CloudView& view, std::size_t block_rows, OpContext& ctx)
    : skip_(view.skip), stride_(view.stride), block_rows_(block_rows) {
  const std::size_t rows = view.positions.size;
  before_.assign((rows + block_rows - 1) / block_rows + 1, 0);
  ctx.begin_phase("Selecting points", rows);
  parallel_for(ctx, rows, block_rows, [&](std::size_t begin, std::size_t end) {
    std::uint64_t kept = end - begin;
    if (!skip_.empty()) {
      for (std::size_t i = begin; i < end; ++i) kept -= skip_[i] != 0 ? 1 : 0;
    }
    before_[begin / block_rows_ + 1] = kept;
  });
  for (std::size_t i = 1; i < before_.size(); ++i) before_[i] += before_[i - 1];
}

TextRows::TextRows(const CloudView& view, const TextWriteParams& params)
    : view_(filtered(view, params)),
      params_(params),
      separator_(params.format == TextFormat::kCsv ? ',' : ' ') {
  for (const ScalarView& scalar : view_.scalars)
    scalars_.push_back({scalar.values, !is_float(scalar.values->dtype())});
  const bool titles = params.header == TextHeader::kTitles, ply = params.format == TextFormat::kPly;
  const auto add = [&](const char* name, const char* type) {
    names_.push_back(name);
    types_.push_back(type);
  };
  if (!view_.colors.empty()) {
    add(ply ? "red" : titles ? "R" : "r255", "uchar");
    add(ply ? "green" : titles ? "G" : "g255", "uchar");
    add(ply ? "blue" : titles ? "B" : "b255", "uchar");
  }
  if (!view_.intensity.empty()) add(titles && !ply ? "Intensity" : "intensity", "float");
  if (!view_.timestamps.empty()) add("timestamp", "double");
  if (!view_.beam_origins.empty()) {
    add("origin_x", "double");
    add("origin_y", "double");
    add("origin_z", "double");
  }
  ColumnNames taken{"x", "y", "z"};
  for (const std::string& name : names_) taken.reserve(name);
  for (const ScalarView& scalar : view_.scalars) {
    const std::string name = params.format == TextFormat::kCsv ? scalar.slug : one_word(scalar.slug);
    names_.push_back(taken.take(scalar.slug, name, warnings_));
    types_.push_back(ply_type(scalar.values->dtype()));
  }
}

std::size_t TextRows::max_row_bytes() const { return (column_count() + 1) * (kMaxNumberBytes + 1); }

void TextRows::inspect(const RowSelection& rows, OpContext& ctx) {
  const std::size_t count = view_.positions.size;
  std::atomic<bool> large{false};
  ctx.begin_phase("Looking at the columns", count * (1 + scalars_.size()));
  if (params_.format == TextFormat::kPly) {
    parallel_for(ctx, count, rows.block_rows(), [&](std::size_t begin, std::size_t end) {
      bool over = false;
      rows.for_each(begin, end, [&](std::size_t i) {
        const Vec3d p = view_.positions[i] + view_.offset;
        over = over || std::fabs(p.x) > kFloatLimit || std::fabs(p.y) > kFloatLimit ||
               std::fabs(p.z) > kFloatLimit;
      });
      if (over) large = true;
    });
  }
  large_coordinates_ = large;
  if (!view_.intensity.empty()) {
    intensity_cut_ = any_changes(view_.intensity, intensity_decimals(), rows, ctx);
  }
  if (!view_.timestamps.empty() && look_at(view_.timestamps, rows, ctx).rounded)
    rounded_.push_back("timestamp");
  for (std::size_t k = 0; k < scalars_.size(); ++k) {
    Scalar& scalar = scalars_[k];
    if (!is_float(scalar.values->dtype())) continue;
    Look look;
    visit_scalar(*scalar.values, [&](auto values) { look = look_at(values, rows, ctx); });
    scalar.integral = look.integral;
    if (look.rounded) rounded_.push_back(view_.scalars[k].slug);
  }
}

std::string TextRows::ply_header(std::uint64_t row_count) const {
  const std::string xyz = large_coordinates_ ? "double" : "float";
  std::string text = "ply\nformat ascii 1.0\nelement vertex " + std::to_string(row_count);
  for (const char axis : {'x', 'y', 'z'}) text += "\nproperty " + xyz + " " + axis;
  for (std::size_t i = 0; i < names_.size(); ++i)
    text += std::string("\nproperty ") + types_[i] + " " + names_[i];
  return text + "\nend_header";
}

std::string TextRows::header(std::uint64_t row_count) const {
  if (params_.format == TextFormat::kPly) return ply_header(row_count);
  if (params_.format == TextFormat::kObj) return "# Point cloud\n# Points: " + std::to_string(row_count);
  if (params_.header == TextHeader::kNone) return "";
  const bool titles = params_.header == TextHeader::kTitles;
  std::string text = params_.header == TextHeader::kCommentedSlugs ? "# " : "";
  for (const char axis : {'x', 'y', 'z'}) {
    if (axis != 'x') text += separator_;
    text += titles ? static_cast<char>(axis - 'a' + 'A') : axis;
  }
  for (const std::string& name : names_) text += separator_ + (separator_ == ',' ? csv_cell(name) : name);
  return text;
}

char* TextRows::write_real(double value, char* p) const {
  return value != value && separator_ == ',' ? p : fixed6(value, p);
}

char* TextRows::write_scalar(const Scalar& scalar, std::size_t row, char* p) const {
  visit_scalar(*scalar.values, [&](auto values) {
    const auto value = values[row];
    using T = std::remove_cv_t<decltype(value)>;
    if constexpr (std::is_floating_point_v<T>) {
      const auto real = static_cast<double>(value);
      p = scalar.integral && std::isfinite(real) ? integer(static_cast<std::int64_t>(real), p)
                                                 : write_real(real, p);
    } else if constexpr (std::is_signed_v<T>) {
      p = integer(value, p);
    } else {
      p = unsigned_integer(value, p);
    }
  });
  return p;
}

char* TextRows::write_row(std::size_t row, char* p) const {
  const auto separate = [&] { *p++ = separator_; };
  const auto triple = [&](const Vec3d& v) {
    p = write_real(v.x, p);
    separate();
    p = write_real(v.y, p);
    separate();
    p = write_real(v.z, p);
  };
  if (params_.format == TextFormat::kObj) p = word("v ", p);
  triple(view_.positions[row] + view_.offset);
  if (!view_.colors.empty()) {
    const Rgb16 color = view_.colors[row];
    for (const std::uint16_t channel : {color.r, color.g, color.b}) {
      separate();
      p = color255(channel, p);
    }
  }
  if (!view_.intensity.empty()) {
    separate();
    p = unit16(view_.intensity[row], intensity_decimals(), p);
  }
  if (!view_.timestamps.empty()) {
    separate();
    p = write_real(view_.timestamps[row], p);
  }
  if (!view_.beam_origins.empty()) {
    separate();
    triple(view_.beam_origins[row] + view_.offset);
  }
  for (const Scalar& scalar : scalars_) {
    separate();
    p = write_scalar(scalar, row, p);
  }
  return p;
}

}  // namespace pc::io

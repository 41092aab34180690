#include "ops/cloud/paint_labels.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <string>

#include "core/dtype_fit.h"
#include "core/parallel.h"
#include "ops/cloud/class_set.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kLargestClass = 0x1.0p53;

struct Rule {
  explicit Rule(const LabelStroke& stroke)
      : to_class(stroke.to_class),
        any_class(!stroke.from_classes),
        from(stroke.from_classes.value_or(std::vector<double>{})),
        exclude(stroke.exclude_classes) {}

  /// True if the stroke changes this value.
  template <class T>
  bool changes(T value) const {
    double exact = 0;
    const bool same = exact_cast(value, exact) && exact == to_class;
    return !same && (any_class || from.holds(value)) && !exclude.holds(value);
  }
  double to_class;
  bool any_class;
  ClassSet from, exclude;
};

/// Marks the rows that the stroke changes; returns the number of editable rows inside it.
std::uint64_t find_changes(const LabelStroke& stroke, Span<std::uint8_t> changed, OpContext& ctx) {
  const Rule rule(stroke);
  std::atomic<std::uint64_t> inside{0};
  const auto scan = [&](const auto& changes) {
    parallel_for(ctx, changed.size, kGrain, [&](std::size_t begin, std::size_t end) {
      std::uint64_t count = 0;
      for (std::size_t i = begin; i < end; ++i) {
        if (stroke.selected[i] == 0 || (!stroke.skip.empty() && stroke.skip[i] != 0)) continue;
        ++count;
        if (changes(i)) changed[i] = 1;
      }
      inside += count;
    });
  };
  if (stroke.column == nullptr) {
    scan([change = rule.changes(std::uint8_t{0})](std::size_t) { return change; });
  } else {
    visit_scalar(*stroke.column,
                 [&](auto values) { scan([&](std::size_t i) { return rule.changes(values[i]); }); });
  }
  return inside;
}

/// The column's values at the rows; a single value if all have the same bits.
AnyColumn values_at(const AnyColumn& column, const RowSetReader& reader, std::uint64_t count,
                    OpContext& ctx) {
  return visit_scalar(column, [&](auto values) -> AnyColumn {
    using T = std::remove_const_t<std::remove_reference_t<decltype(values[0])>>;
    Column<T> out(static_cast<std::size_t>(count));
    const Span<T> to = out.view();
    std::atomic<bool> equal{true};
    reader.for_each(ctx, [&](std::size_t row, std::size_t rank) { to[rank] = values[row]; });
    parallel_for(ctx, to.size, kGrain, [&](std::size_t begin, std::size_t end) {
      bool same = true;
      for (std::size_t i = begin; i < end; ++i) same = same && std::memcmp(&to[i], &to[0], sizeof(T)) == 0;
      if (!same) equal = false;
    });
    if (!equal || to.size <= 1) return out;
    Column<T> one(1);
    one[0] = to[0];
    return one;
  });
}

/// A copy of the column in another type that holds its values; zeros if there is no column.
AnyColumn copy_as(const AnyColumn* column, DType dtype, std::size_t n, OpContext& ctx) {
  AnyColumn out(dtype, n);
  if (column == nullptr) return out;
  const std::size_t from_size = dtype_size(column->dtype()), to_size = dtype_size(dtype);
  const ConvertRows convert = row_converter(column->dtype(), dtype);
  std::byte* const to = out.data();
  parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
    if (column->dtype() == dtype) {
      std::memcpy(to + begin * to_size, column->data() + begin * from_size, (end - begin) * to_size);
    } else {
      convert(column->data() + begin * from_size, nullptr, end - begin, to + begin * to_size);
    }
  });
  return out;
}

void check_stroke(const LabelStroke& stroke) {
  const std::size_t n = stroke.selected.size;
  require(stroke.column == nullptr || stroke.column->size() == n,
          "the selection must have one entry per row of the label column");
  require(stroke.skip.empty() || stroke.skip.size == n, "the skip mask must have one entry per row");
  require(std::abs(stroke.to_class) <= kLargestClass && std::rint(stroke.to_class) == stroke.to_class,
          "to_class must be a whole number");
}

/// `values` in the type `dtype` if all of them fit, otherwise none.
std::optional<AnyColumn> fitting(const AnyColumn& values, DType dtype, OpContext& ctx) {
  AnyColumn out(dtype, values.size());
  const ConvertRows convert = row_converter(values.dtype(), dtype);
  std::byte* const to = out.data();
  std::atomic<bool> fits{true};
  parallel_for(ctx, values.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    const std::byte* const from = values.data() + begin * dtype_size(values.dtype());
    if (convert(from, nullptr, end - begin, to + begin * dtype_size(dtype)) != end - begin) fits = false;
  });
  if (!fits) return std::nullopt;
  return out;
}

/// A label column while strokes are painted: the caller's until the first change, then a copy of it.
class Canvas {
 public:
  explicit Canvas(const AnyColumn* column) : labels_(column) {}
  /// nullptr = u8 zeros.
  const AnyColumn* labels() const { return labels_; }
  DType dtype() const { return labels_ == nullptr ? DType::kU8 : labels_->dtype(); }

  /// The copy, in a type that holds its values.
  AnyColumn& writable(DType dtype, std::size_t n, OpContext& ctx) {
    if (labels_ != &copy_ || copy_.dtype() != dtype) {
      AnyColumn next = copy_as(labels_, dtype, n, ctx);
      copy_ = std::move(next);
      labels_ = &copy_;
    }
    return copy_;
  }
  AnyColumn take(std::size_t n, OpContext& ctx) { return std::move(writable(dtype(), n, ctx)); }

 private:
  const AnyColumn* labels_;
  AnyColumn copy_;
};

StrokeChange paint(Canvas& canvas, const LabelStroke& stroke, OpContext& ctx) {
  check_stroke(stroke);
  const std::size_t n = stroke.selected.size;
  ctx.begin_phase("Painting labels", n);
  Column<std::uint8_t> changed(n);
  const std::uint64_t inside = find_changes(stroke, changed.view(), ctx);
  RowSet rows = encode_rows(changed.view(), ctx);
  if (rows.count == 0) return {std::move(rows), AnyColumn(canvas.dtype(), 0), inside};
  const auto after = dtype_holding(canvas.dtype(), stroke.to_class);
  if (!after) {
    throw Error(ErrorCode::kInvalidArgument,
                "no number type holds to_class " + std::to_string(stroke.to_class) +
                    " and every value of a column of " + dtype_name(canvas.dtype()));
  }

  ctx.begin_phase("Writing labels", n);
  const RowSetReader reader({rows.encoding, &rows.data, rows.count}, n, ctx);
  AnyColumn previous(DType::kU8, 1);
  if (stroke.column != nullptr) previous = values_at(*stroke.column, reader, rows.count, ctx);
  AnyColumn& column = canvas.writable(*after, n, ctx);
  visit_scalar_type(*after, [&](auto type) {
    using T = typename decltype(type)::type;
    T label{};
    (void)exact_cast(stroke.to_class, label);
    const Span<T> out = column.as_mutable<T>();
    reader.for_each(ctx, [&](std::size_t row, std::size_t) { out[row] = label; });
  });
  return {std::move(rows), std::move(previous), inside};
}

}  // namespace

PaintedLabels paint_labels(const LabelStroke& stroke, OpContext& ctx) {
  Canvas canvas(stroke.column);
  StrokeChange change = paint(canvas, stroke, ctx);
  return {canvas.take(stroke.selected.size, ctx), std::move(change.rows), std::move(change.previous),
          change.selected_count};
}

PaintedSequence paint_strokes(const StrokeSequence& sequence, OpContext& ctx) {
  Canvas canvas(sequence.column);
  PaintedSequence out;
  std::uint64_t history_bytes = 0;
  for (const RegionStroke& stroke : sequence.strokes) {
    const Column<std::uint8_t> selected = region_select({sequence.positions, stroke.regions, {}}, ctx);
    out.changes.push_back(paint(canvas,
                                {canvas.labels(), selected.view(), sequence.skip, stroke.to_class,
                                 stroke.from_classes, stroke.exclude_classes},
                                ctx));
    const StrokeChange& change = out.changes.back();
    history_bytes += change.rows.data.bytes() + change.previous.bytes();
    if (history_bytes > sequence.max_history_bytes && out.changes.size() > 1) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the undo history of the first " + std::to_string(out.changes.size()) + " of " +
                      std::to_string(sequence.strokes.size()) + " strokes exceeds " +
                      std::to_string(sequence.max_history_bytes) +
                      " bytes; send the strokes in several requests");
    }
  }
  out.column = canvas.take(sequence.positions.size, ctx);
  return out;
}

AnyColumn set_labels(const AnyColumn& column, const RowSetView& rows, const AnyColumn& values,
                     OpContext& ctx) {
  ctx.begin_phase("Writing labels", column.size());
  const RowSetReader reader(rows, column.size(), ctx);
  require(values.size() == 1 || values.size() == rows.count,
          "the values must be one, or one per row of the set");
  DType after = column.dtype();
  auto fitted = fitting(values, after, ctx);
  if (!fitted) {
    const auto common = common_dtype(column.dtype(), values.dtype());
    if (!common) {
      throw Error(ErrorCode::kInvalidArgument, std::string("no number type holds every value of ") +
                                                   dtype_name(column.dtype()) + " and " +
                                                   dtype_name(values.dtype()));
    }
    after = *common;
    fitted = fitting(values, after, ctx);
  }
  AnyColumn out = copy_as(&column, after, column.size(), ctx);
  visit_scalar_type(after, [&](auto type) {
    using T = typename decltype(type)::type;
    const Span<T> to = out.as_mutable<T>();
    const Span<const T> from = fitted->as<T>();
    const std::size_t step = from.size == 1 ? 0 : 1;
    reader.for_each(ctx, [&](std::size_t row, std::size_t rank) { to[row] = from[rank * step]; });
  });
  return out;
}

}  // namespace pc

#include "ops/cloud/paint_labels.h"

#include <cmath>
#include <limits>

#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

using Mask = std::vector<std::uint8_t>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class PaintLabels : public testing::TestWithParam<int> {
 protected:
  PaintedLabels paint(const AnyColumn* column, const Mask& selected, double to_class,
                      std::optional<std::vector<double>> from = std::nullopt,
                      std::vector<double> exclude = {}, const Mask& skip = {}) {
    return paint_labels(
        {column, span_of(selected), span_of(skip), to_class, std::move(from), std::move(exclude)}, ctx);
  }
  AnyColumn undone(const PaintedLabels& painted) {
    return set_labels(painted.column, {painted.rows.encoding, &painted.rows.data, painted.rows.count},
                      painted.previous, ctx);
  }
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(PaintLabels, PaintsOnlyEditableRowsInside) {
  const AnyColumn labels = column_of<std::uint8_t>({1, 1, 2, 2, 3, 3});
  const PaintedLabels painted = paint(&labels, {1, 1, 1, 0, 9, 1}, 2, std::nullopt, {}, {0, 3, 0, 0, 0, 1});
  EXPECT_EQ(values_of<std::uint8_t>(painted.column), (Mask{2, 1, 2, 2, 2, 3}));
  EXPECT_EQ(painted.selected_count, 3U);
  EXPECT_EQ(painted.rows.count, 2U);  // row 2 held it already
  EXPECT_EQ(values_of<std::uint8_t>(painted.previous), (Mask{1, 3}));
}

TEST_P(PaintLabels, GatesByClassRoundedHalfToEven) {
  const std::vector<float> values{0.5F, 1.5F, 2.5F, 2, kNaN, -0.0F};
  const AnyColumn labels = column_of(values);
  const Mask all(6, 1);
  const auto changed = [&](std::optional<std::vector<double>> from, std::vector<double> exclude) {
    const std::vector<float> after =
        values_of<float>(paint(&labels, all, 9, std::move(from), std::move(exclude)).column);
    std::string rows;
    for (const float v : after) rows += v == 9 ? 'x' : '.';
    return rows;
  };
  EXPECT_EQ(changed(std::vector<double>{0}, {}), "x....x");
  EXPECT_EQ(changed(std::vector<double>{2, 7}, {}), ".xxx..");
  EXPECT_EQ(changed(std::nullopt, {2}), "x...xx");
  EXPECT_EQ(changed(std::nullopt, {}), "xxxxxx");
  EXPECT_EQ(changed(std::vector<double>{0, 2}, {2}), "x....x");
  EXPECT_EQ(changed(std::vector<double>{}, {}), "......");
}

TEST_P(PaintLabels, StrokeThatChangesNothingNotesNothing) {
  const AnyColumn labels = column_of<std::uint8_t>({5, 5});
  for (const auto& painted :
       {paint(&labels, {1, 1}, 5), paint(&labels, {0, 0}, 6),
        paint(&labels, {1, 1}, 300, std::vector<double>{}), paint(&labels, {1, 1}, 6, {}, {5})}) {
    EXPECT_EQ(painted.rows.count, 0U);
    EXPECT_EQ(painted.previous.size(), 0U);
    EXPECT_EQ(painted.column.dtype(), DType::kU8);
    EXPECT_EQ(values_of<std::uint8_t>(painted.column), (Mask{5, 5}));
  }
}

TEST_P(PaintLabels, EqualPreviousValuesBecomeOneWithTheirBits) {
  const AnyColumn same = column_of<float>({-0.0F, 1, -0.0F}), differing = column_of<float>({-0.0F, 1, 0.0F});
  const Mask ends{1, 0, 1};
  const PaintedLabels one = paint(&same, ends, 3), two = paint(&differing, ends, 3);
  ASSERT_EQ(one.previous.size(), 1U);
  EXPECT_TRUE(std::signbit(values_of<float>(one.previous)[0]));
  EXPECT_EQ(two.previous.size(), 2U);
  EXPECT_EQ(bytes_of(undone(one)), bytes_of(same));
  EXPECT_EQ(bytes_of(undone(two)), bytes_of(differing));
  // Both zeros are class 0 already.
  EXPECT_EQ(paint(&differing, ends, 0).rows.count, 0U);
}

TEST_P(PaintLabels, MakesAColumnAndWidensIt) {
  const PaintedLabels fresh = paint(nullptr, {0, 1, 1}, 7);
  EXPECT_EQ(values_of<std::uint8_t>(fresh.column), (Mask{0, 7, 7}));
  EXPECT_EQ(values_of<std::uint8_t>(fresh.previous), Mask{0});
  EXPECT_EQ(paint(nullptr, {1}, 0).rows.count, 0U);
  EXPECT_EQ(paint(nullptr, {1}, 7, std::vector<double>{1}).rows.count, 0U);
  EXPECT_EQ(paint(nullptr, {1}, 300).column.dtype(), DType::kU16);

  const AnyColumn bytes = column_of<std::uint8_t>({1, 255});
  const PaintedLabels wide = paint(&bytes, {1, 0}, 16777216);
  EXPECT_EQ(wide.column.dtype(), DType::kU32);
  EXPECT_EQ(values_of<std::uint32_t>(wide.column), (std::vector<std::uint32_t>{16777216, 255}));
  EXPECT_EQ(wide.previous.dtype(), DType::kU8);
  EXPECT_EQ(values_of<std::uint32_t>(undone(wide)), (std::vector<std::uint32_t>{1, 255}));
  EXPECT_EQ(paint(&bytes, {1, 0}, -3).column.dtype(), DType::kI16);
  EXPECT_EQ(paint(nullptr, {}, 7).column.size(), 0U);
}

TEST_P(PaintLabels, EveryTypeEqualsTheRuleRowByRow) {
  constexpr std::size_t kRows = 150'001;
  Mask selected(kRows), skip(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    selected[i] = i / 700 % 3 == 1 ? 4 : 0;
    skip[i] = random_u64(1, i) % 6 == 0 ? 1 : 0;
  }
  for (const DType dtype : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32,
                            DType::kU64, DType::kI64, DType::kF32, DType::kF64}) {
    AnyColumn column(dtype, kRows);
    visit_scalar(column, [&](auto values) {
      using T = std::remove_cvref_t<decltype(values[0])>;
      const Span<T> out = column.as_mutable<T>();
      for (std::size_t i = 0; i < kRows; ++i) out[i] = static_cast<T>(random_u64(2, i) % 9);
    });
    const PaintedLabels painted = paint(&column, selected, 4, std::vector<double>{1, 2, 3, 4, 5}, {3}, skip);
    visit_scalar(column, [&](auto values) {
      using T = std::remove_cvref_t<decltype(values[0])>;
      const auto after = painted.column.as<T>();
      std::uint64_t inside = 0;
      std::vector<T> previous;
      for (std::size_t i = 0; i < kRows; ++i) {
        const bool in = selected[i] != 0 && skip[i] == 0;
        const bool changes = in && values[i] >= 1 && values[i] <= 5 && values[i] != 3 && values[i] != 4;
        inside += in;
        ASSERT_EQ(after[i], changes ? T{4} : values[i]) << dtype_name(dtype) << " row " << i;
        if (changes) previous.push_back(values[i]);
      }
      EXPECT_EQ(painted.selected_count, inside);
      EXPECT_EQ(painted.rows.count, previous.size());
      EXPECT_EQ(values_of<T>(painted.previous) == previous, true) << dtype_name(dtype);
    });
    EXPECT_EQ(bytes_of(undone(painted)) == bytes_of(column), true) << dtype_name(dtype);
  }
}

TEST_P(PaintLabels, SetLabelsTakesAnyFormOfRows) {
  const AnyColumn column = column_of<std::uint8_t>({0, 1, 2, 3, 4, 5, 6, 7, 8});
  const AnyColumn rows = column_of<std::uint32_t>({1, 7}), runs = column_of<std::uint32_t>({0, 2, 5, 1}),
                  bits = column_of<std::uint8_t>({0b10000010, 1});
  const AnyColumn one = column_of<std::uint8_t>({9}), three = column_of<std::uint8_t>({10, 11, 12}),
                  wide = column_of<std::uint16_t>({256, 1}), narrow = column_of<std::uint16_t>({255, 1}),
                  half = column_of<double>({0.5});
  EXPECT_EQ(values_of<std::uint8_t>(set_labels(column, {RowEncoding::kRows, &rows, 2}, one, ctx)),
            (Mask{0, 9, 2, 3, 4, 5, 6, 9, 8}));
  EXPECT_EQ(values_of<std::uint8_t>(set_labels(column, {RowEncoding::kRuns, &runs, 3}, three, ctx)),
            (Mask{10, 11, 2, 3, 4, 12, 6, 7, 8}));
  EXPECT_EQ(values_of<std::uint8_t>(set_labels(column, {RowEncoding::kBits, &bits, 3}, three, ctx)),
            (Mask{0, 10, 2, 3, 4, 5, 6, 11, 12}));
  EXPECT_EQ(set_labels(column, {RowEncoding::kRows, &rows, 2}, narrow, ctx).dtype(), DType::kU8);
  EXPECT_EQ(values_of<std::uint16_t>(set_labels(column, {RowEncoding::kRows, &rows, 2}, wide, ctx)),
            (std::vector<std::uint16_t>{0, 256, 2, 3, 4, 5, 6, 1, 8}));
  EXPECT_EQ(values_of<double>(set_labels(column, {RowEncoding::kRows, &rows, 2}, half, ctx))[7], 0.5);
  const AnyColumn none = column_of<std::uint32_t>({});
  EXPECT_EQ(bytes_of(set_labels(column, {RowEncoding::kRows, &none, 0}, none, ctx)), bytes_of(column));
}

TEST_P(PaintLabels, SequenceEqualsOneStrokeAfterAnother) {
  const std::size_t n = 70'000;
  std::vector<Vec3d> positions(n);
  Mask skip(n);
  for (std::size_t i = 0; i < n; ++i) {
    positions[i] = {random_unit(7, 3 * i), random_unit(7, 3 * i + 1), random_unit(7, 3 * i + 2)};
    skip[i] = i % 11 == 0;
  }
  const AnyColumn labels = column_of(std::vector<std::uint8_t>(n, 3));
  std::vector<RegionStroke> strokes;
  for (int i = 0; i < 6; ++i) {
    const double low = random_unit(8, static_cast<std::uint64_t>(i)) / 2;
    strokes.push_back({{{BoxRegion{{low, 0, 0}, {low + 0.5, 1, 1}}, i == 4}},
                       i == 3 ? 70'000.0 : static_cast<double>(i),
                       i == 5 ? std::optional<std::vector<double>>{{3, 70'000}} : std::nullopt,
                       {2}});
  }
  const PaintedSequence all =
      paint_strokes({&labels, span_of(positions), span_of(skip), strokes, 1U << 30}, ctx);
  AnyColumn one = paint(&labels, Mask(n, 0), 0).column;
  for (std::size_t i = 0; i < strokes.size(); ++i) {
    const auto selected = region_select({span_of(positions), strokes[i].regions, {}}, ctx);
    PaintedLabels next = paint_labels({&one, selected.view(), span_of(skip), strokes[i].to_class,
                                       strokes[i].from_classes, strokes[i].exclude_classes},
                                      ctx);
    EXPECT_EQ(all.changes[i].rows.count, next.rows.count) << i;
    EXPECT_GT(next.rows.count, 0U) << i;
    EXPECT_EQ(all.changes[i].selected_count, next.selected_count) << i;
    EXPECT_EQ(all.changes[i].previous.dtype(), next.previous.dtype()) << i;
    EXPECT_EQ(all.changes[i].previous.size(), next.previous.size()) << i;
    one = std::move(next.column);
  }
  EXPECT_EQ(one.dtype(), DType::kU32);
  EXPECT_EQ(values_of<std::uint32_t>(all.column), values_of<std::uint32_t>(one));
  EXPECT_EQ(values_of<std::uint8_t>(labels), Mask(n, 3));  // the caller's column never changes
}

TEST_P(PaintLabels, RefusesWhatCannotBePainted) {
  const AnyColumn two(DType::kU8, 2), triples(DType::kVec3d, 2), wide(DType::kU64, 2);
  const Mask both{1, 1};
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  EXPECT_EQ(code_of([&] { paint(&two, {1}, 1); }), kRefused);
  EXPECT_EQ(code_of([&] { paint(&two, both, 1, {}, {}, {0}); }), kRefused);
  EXPECT_EQ(code_of([&] { paint(&triples, both, 1); }), kRefused);
  EXPECT_EQ(code_of([&] { paint(&two, both, 0.5); }), kRefused);
  EXPECT_EQ(code_of([&] { paint(&two, both, static_cast<double>(kNaN)); }), kRefused);
  EXPECT_EQ(code_of([&] { paint(&two, both, HUGE_VAL); }), kRefused);
  EXPECT_EQ(code_of([&] { paint(&wide, both, -1); }), kRefused);
  const AnyColumn row = column_of<std::uint32_t>({1}), values = column_of<std::uint8_t>({1, 2}),
                  signed_value = column_of<std::int8_t>({-1});
  EXPECT_EQ(code_of([&] { set_labels(two, {RowEncoding::kRows, &row, 1}, values, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { set_labels(wide, {RowEncoding::kRows, &row, 1}, signed_value, ctx); }), kRefused);
  EXPECT_EQ(code_of([&] { set_labels(triples, {RowEncoding::kRows, &row, 1}, values, ctx); }), kRefused);
}

INSTANTIATE_TEST_SUITE_P(Threads, PaintLabels, testing::Values(1, 4));

TEST(PaintLabelsCancel, EndsInTime) {
  const AnyColumn labels(DType::kF32, 10'000'000);
  const Mask selected(10'000'000, 1);
  expect_cancel_in_time([&](OpContext& ctx) {
    paint_labels({&labels, span_of(selected), {}, 1, std::vector<double>{0, 1e9}, {5}}, ctx);
  });
}

}  // namespace
}  // namespace pc::test

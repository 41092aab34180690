#include "ops/cloud/row_set.h"

#include <limits>

#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

using Mask = std::vector<std::uint8_t>;

struct NamedMask {
  std::string name;
  Mask mask;
  RowEncoding smallest;
};

std::vector<NamedMask> masks() {
  std::vector<NamedMask> list{
      {"empty", {}, RowEncoding::kRows},
      {"one row, not in it", {0}, RowEncoding::kRows},
      {"one row, in it", {1}, RowEncoding::kBits},
      {"none of many", Mask(300'000, 0), RowEncoding::kRows},
      {"all of many", Mask(300'000, 255), RowEncoding::kRuns},
      {"all of nine", Mask(9, 1), RowEncoding::kBits},
  };
  const auto add = [&](const std::string& name, std::size_t n, RowEncoding smallest, const auto& in) {
    Mask mask(n);
    for (std::size_t i = 0; i < n; ++i) mask[i] = in(i) ? static_cast<std::uint8_t>(1 + i % 200) : 0;
    list.push_back({name, mask, smallest});
  };
  add("a few", 200'003, RowEncoding::kRows, [](std::size_t i) { return i % 1000 == 7; });
  add("first and last", 200'003, RowEncoding::kRows, [](std::size_t i) { return i == 0 || i == 200'002; });
  add("every other", 200'003, RowEncoding::kBits, [](std::size_t i) { return i % 2 == 0; });
  add("random half", 131'075, RowEncoding::kBits, [](std::size_t i) { return random_u64(1, i) % 2 == 0; });
  add("stretches over block ends", 400'001, RowEncoding::kRuns,
      [](std::size_t i) { return i % 70'000 < 69'000; });
  add("a block exactly", 3 * 65'536, RowEncoding::kRuns, [](std::size_t i) { return i / 65'536 == 1; });
  add("from the middle to the end", 200'003, RowEncoding::kRuns, [](std::size_t i) { return i > 100'000; });
  // 8 bytes a run of 40 rows: 2 / 3 of what bits would take.
  add("half in stretches of 40", 200'000, RowEncoding::kRuns, [](std::size_t i) { return i % 80 < 40; });
  add("pairs", 200'000, RowEncoding::kBits, [](std::size_t i) { return i % 16 < 2; });
  return list;
}

RowSet encoded(const Mask& mask, int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return encode_rows(span_of(mask), ctx);
}

std::vector<std::uint64_t> rows_of(const Mask& mask) {
  std::vector<std::uint64_t> rows;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) rows.push_back(i);
  }
  return rows;
}

/// The set by its own words, without the reader.
std::vector<std::uint64_t> decoded(const RowSet& set) {
  std::vector<std::uint64_t> rows;
  if (set.encoding == RowEncoding::kBits) {
    const auto bytes = values_of<std::uint8_t>(set.data);
    for (std::size_t i = 0; i < 8 * bytes.size(); ++i) {
      if ((bytes[i / 8] >> (i % 8) & 1) != 0) rows.push_back(i);
    }
    return rows;
  }
  const auto values = values_of<std::uint32_t>(set.data);
  if (set.encoding == RowEncoding::kRows) return {values.begin(), values.end()};
  for (std::size_t run = 0; run < values.size(); run += 2) {
    for (std::uint32_t k = 0; k < values[run + 1]; ++k) rows.push_back(values[run] + k);
  }
  return rows;
}

RowSetView view_of(const RowSet& set) { return {set.encoding, &set.data, set.count}; }

class RowSets : public testing::TestWithParam<int> {
 protected:
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(RowSets, EncodeInTheSmallestForm) {
  for (const auto& [name, mask, smallest] : masks()) {
    const RowSet set = encoded(mask, GetParam());
    const std::vector<std::uint64_t> rows = rows_of(mask);
    EXPECT_EQ(set.encoding, smallest) << name;
    EXPECT_EQ(set.count, rows.size()) << name;
    EXPECT_EQ(decoded(set) == rows, true) << name;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) runs += mask[i] != 0 && (i == 0 || mask[i - 1] == 0);
    EXPECT_EQ(set.data.bytes(), std::min({4 * rows.size(), 8 * runs, (mask.size() + 7) / 8})) << name;
    EXPECT_EQ(bytes_of(set.data) == bytes_of(encoded(mask, 1).data), true) << name;
  }
}

TEST_P(RowSets, ReaderVisitsEveryRowOnceWithItsRank) {
  for (const auto& [name, mask, smallest] : masks()) {
    const RowSet set = encoded(mask, 1);
    const std::vector<std::uint64_t> rows = rows_of(mask);
    std::vector<std::uint64_t> seen(rows.size(), ~std::uint64_t{0});
    RowSetReader(view_of(set), mask.size(), ctx).for_each(ctx, [&](std::size_t row, std::size_t rank) {
      ASSERT_LT(rank, seen.size());
      ASSERT_EQ(seen[rank], ~std::uint64_t{0});
      seen[rank] = row;
    });
    EXPECT_EQ(seen == rows, true) << name;
  }
}

TEST_P(RowSets, WideRowsAndRunsReadAsNarrowOnes) {
  const AnyColumn rows = column_of<std::uint64_t>({1, 5, 9}), runs = column_of<std::uint64_t>({2, 3, 8, 1});
  const auto united =
      union_rows(10, {}, {{RowEncoding::kRows, &rows, 3}, {RowEncoding::kRuns, &runs, 4}}, ctx);
  EXPECT_EQ(Mask(united.view().begin(), united.view().end()), (Mask{0, 1, 1, 1, 1, 1, 0, 0, 1, 1}));
}

TEST_P(RowSets, ListAndBack) {
  for (const auto& [name, mask, smallest] : masks()) {
    const RowSet set = encoded(mask, 1);
    const Column<std::int64_t> list = list_rows(mask.size(), view_of(set), ctx);
    const std::vector<std::uint64_t> rows = rows_of(mask);
    EXPECT_EQ(std::vector<std::uint64_t>(list.view().begin(), list.view().end()) == rows, true) << name;
    const RowSet back = row_set_of(mask.size(), list.view(), ctx);
    EXPECT_EQ(back.encoding, set.encoding) << name;
    EXPECT_EQ(back.count, set.count) << name;
    EXPECT_EQ(bytes_of(back.data) == bytes_of(set.data), true) << name;
  }
}

TEST(RowSetOf, RefusesRowsThatAreNoSet) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 2);
  for (const std::vector<std::int64_t>& rows :
       {std::vector<std::int64_t>{-1}, {5}, {1, 1}, {2, 1}, {0, std::numeric_limits<std::int64_t>::max()}}) {
    Column<std::int64_t> column(rows.size());
    std::copy(rows.begin(), rows.end(), column.view().begin());
    EXPECT_THROW(row_set_of(5, column.view(), ctx), Error);
  }
}

TEST_P(RowSets, UnionIsThatOfTheMasks) {
  constexpr std::size_t kRows = 200'003;
  Mask base(kRows), wanted(kRows);
  for (std::size_t i = 0; i < kRows; ++i) wanted[i] = (base[i] = i % 97 == 0 ? 200 : 0) != 0 ? 1 : 0;
  std::vector<RowSet> sets;
  for (const auto& [name, mask, smallest] : masks()) {
    if (mask.size() != kRows) continue;
    sets.push_back(encoded(mask, 1));
    for (std::size_t i = 0; i < kRows; ++i) wanted[i] |= mask[i] != 0 ? 1 : 0;
  }
  ASSERT_GE(sets.size(), 4U);
  std::vector<RowSetView> views;
  for (const RowSet& set : sets) views.push_back(view_of(set));
  const Column<std::uint8_t> all = union_rows(kRows, span_of(base), views, ctx);
  EXPECT_EQ(Mask(all.view().begin(), all.view().end()) == wanted, true);
  const Column<std::uint8_t> nothing = union_rows(7, {}, {}, ctx);
  EXPECT_EQ(Mask(nothing.view().begin(), nothing.view().end()), Mask(7, 0));
  EXPECT_EQ(union_rows(0, {}, {}, ctx).size(), 0U);
}

TEST_P(RowSets, RefusesASetThatIsNotOneOfTheCloud) {
  using Values = std::vector<std::uint32_t>;
  const auto code = [&](RowEncoding encoding, const AnyColumn& data, std::uint64_t count) {
    return code_of([&] { union_rows(10, {}, {{encoding, &data, count}}, ctx); });
  };
  const auto rows = [&](const Values& values, std::uint64_t count) {
    return code(RowEncoding::kRows, column_of(values), count);
  };
  const auto runs = [&](const Values& values, std::uint64_t count) {
    return code(RowEncoding::kRuns, column_of(values), count);
  };
  const auto bits = [&](const Mask& values, std::uint64_t count) {
    return code(RowEncoding::kBits, column_of(values), count);
  };
  constexpr auto kRefused = ErrorCode::kInvalidArgument;
  EXPECT_EQ(rows({1, 2}, 3), kRefused);
  EXPECT_EQ(rows({1, 1}, 2), kRefused);
  EXPECT_EQ(rows({2, 1}, 2), kRefused);
  EXPECT_EQ(rows({10}, 1), kRefused);
  EXPECT_EQ(runs({1}, 1), kRefused);
  EXPECT_EQ(runs({1, 2}, 3), kRefused);
  EXPECT_EQ(runs({1, 0}, 0), kRefused);
  EXPECT_EQ(runs({8, 3}, 3), kRefused);
  EXPECT_EQ(runs({4000000000U, 4000000000U}, 4000000000U), kRefused);
  EXPECT_EQ(runs({1, 3, 2, 2}, 5), kRefused);
  EXPECT_EQ(bits({1}, 1), kRefused);
  EXPECT_EQ(bits({1, 4}, 2), kRefused);
  EXPECT_EQ(bits({1, 0}, 2), kRefused);
  EXPECT_EQ(code(RowEncoding::kRows, column_of<float>({1}), 1), kRefused);
  EXPECT_EQ(code(RowEncoding::kBits, column_of<std::uint32_t>({1, 0}), 1), kRefused);
  EXPECT_EQ(code_of([&] { union_rows(3, span_of(Mask{1}), {}, ctx); }), kRefused);
}

INSTANTIATE_TEST_SUITE_P(Threads, RowSets, testing::Values(1, 4));

TEST(RowSetsCancel, EndsInTime) {
  const Mask large(300'000'000, 1);  // a pass over it takes longer than a cancel may
  expect_cancel_in_time([&](OpContext& ctx) { encode_rows(span_of(large), ctx); });
  Mask mask(20'000'000);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 5 < 2 ? 1 : 0;
  const RowSet set = encoded(mask, 2);
  expect_cancel_in_time([&](OpContext& ctx) { union_rows(mask.size(), span_of(mask), {view_of(set)}, ctx); });
}

}  // namespace
}  // namespace pc::test

#include "ops/cloud/mark_deleted.h"

#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

using Mask = std::vector<std::uint8_t>;

Mask mask_of(const Column<std::uint8_t>& column) { return {column.view().begin(), column.view().end()}; }

class MarkDeleted : public testing::TestWithParam<int> {
 protected:
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(MarkDeleted, DeletesSelectedHitsAndNoMiss) {
  const AnyColumn is_miss = column_of<float>({0, 1, 0, std::numeric_limits<float>::quiet_NaN(), -0.0F, 0});
  const Deletion deletion =
      mark_deleted(span_of(Mask{1, 1, 9, 1, 1, 0}), &is_miss, span_of(Mask{0, 0, 7, 0, 0, 1}), ctx);
  EXPECT_EQ(mask_of(deletion.deleted), (Mask{1, 0, 1, 0, 1, 1}));
  EXPECT_EQ(deletion.selected_hit_count, 3U);
  EXPECT_EQ(deletion.rows.count, 2U);
  EXPECT_EQ(deletion.rows.encoding, RowEncoding::kBits);
  EXPECT_EQ(values_of<std::uint8_t>(deletion.rows.data), (Mask{0b010001}));
}

TEST_P(MarkDeleted, EqualsTheRuleRowByRow) {
  constexpr std::size_t kRows = 200'003;
  Mask selected(kRows), deleted(kRows);
  std::vector<std::uint8_t> miss(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    selected[i] = i / 1000 % 3 == 0 ? 1 : 0;
    deleted[i] = random_u64(1, i) % 4 == 0 ? 2 : 0;
    miss[i] = random_u64(2, i) % 5 == 0 ? 1 : 0;
  }
  const AnyColumn is_miss = column_of(miss);
  for (const bool with_misses : {false, true}) {
    for (const bool with_deleted : {false, true}) {
      const Deletion deletion =
          mark_deleted(span_of(selected), with_misses ? &is_miss : nullptr,
                       with_deleted ? span_of(deleted) : Span<const std::uint8_t>{}, ctx);
      std::uint64_t hits = 0, fresh = 0;
      for (std::size_t i = 0; i < kRows; ++i) {
        const bool hit = selected[i] != 0 && !(with_misses && miss[i] != 0);
        const bool before = with_deleted && deleted[i] != 0;
        ASSERT_EQ(deletion.deleted[i], hit || before ? 1 : 0) << i;
        hits += hit;
        fresh += hit && !before;
      }
      EXPECT_EQ(deletion.selected_hit_count, hits);
      EXPECT_EQ(deletion.rows.count, fresh);
      // What was deleted before and the noted rows give the mask again: undo and redo rest on it.
      const Column<std::uint8_t> again =
          union_rows(kRows, with_deleted ? span_of(deleted) : Span<const std::uint8_t>{},
                     {{deletion.rows.encoding, &deletion.rows.data, deletion.rows.count}}, ctx);
      EXPECT_EQ(mask_of(again) == mask_of(deletion.deleted), true);
    }
  }
}

TEST_P(MarkDeleted, NothingAndOneRow) {
  EXPECT_EQ(mark_deleted({}, nullptr, {}, ctx).rows.count, 0U);
  EXPECT_EQ(mask_of(mark_deleted(span_of(Mask{1}), nullptr, {}, ctx).deleted), Mask{1});
  const Mask two{1, 1};
  const Deletion again = mark_deleted(span_of(two), nullptr, span_of(two), ctx);
  EXPECT_EQ(again.rows.count, 0U);
  EXPECT_EQ(again.selected_hit_count, 2U);
}

TEST_P(MarkDeleted, RefusesOtherLengthsAndTriples) {
  const AnyColumn three(DType::kU8, 3), triples(DType::kVec3d, 2);
  const Mask two{1, 1};
  EXPECT_EQ(code_of([&] { mark_deleted(span_of(two), &three, {}, ctx); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { mark_deleted(span_of(two), &triples, {}, ctx); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { mark_deleted(span_of(two), nullptr, three.as<std::uint8_t>(), ctx); }),
            ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Threads, MarkDeleted, testing::Values(1, 4));

TEST(MarkDeletedCancel, EndsInTime) {
  const Mask selected(20'000'000, 1);
  expect_cancel_in_time([&](OpContext& ctx) { mark_deleted(span_of(selected), nullptr, {}, ctx); });
}

}  // namespace
}  // namespace pc::test

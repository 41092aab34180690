#include "ops/cloud/compact.h"

#include <array>
#include <cstring>

#include "core/random.h"
#include "support/cancel.h"
#include "support/columns.h"

namespace pc::test {
namespace {

using Mask = std::vector<std::uint8_t>;

constexpr std::array<DType, 12> kAllTypes = {DType::kU8,  DType::kI8,  DType::kU16,   DType::kI16,
                                             DType::kU32, DType::kI32, DType::kU64,   DType::kI64,
                                             DType::kF32, DType::kF64, DType::kVec3d, DType::kRgb16};

/// Random bytes: NaN payloads and all.
AnyColumn random_column(DType dtype, std::size_t n) {
  AnyColumn column(dtype, n);
  for (std::size_t b = 0; b < column.bytes(); ++b)
    column.data()[b] = static_cast<std::byte>(random_u64(static_cast<std::uint64_t>(dtype), b));
  return column;
}

std::string plain(const AnyColumn& column, const Mask& drop) {
  std::string bytes;
  const std::size_t size = dtype_size(column.dtype());
  for (std::size_t i = 0; i < drop.size(); ++i) {
    if (drop[i] == 0) bytes.append(reinterpret_cast<const char*>(column.data()) + i * size, size);
  }
  return bytes;
}

class Compact : public testing::TestWithParam<int> {
 protected:
  JobControl control;
  OpContext ctx{control, Device::kCpu, GetParam()};
};

TEST_P(Compact, KeepsRowsOfEveryTypeInOrder) {
  std::vector<std::pair<std::string, Mask>> masks{{"empty", {}},
                                                  {"one kept", {0}},
                                                  {"one dropped", {1}},
                                                  {"none dropped", Mask(50'000, 0)},
                                                  {"all dropped", Mask(50'000, 7)}};
  const auto add = [&](const std::string& name, std::size_t n, const auto& dropped) {
    Mask mask(n);
    for (std::size_t i = 0; i < n; ++i) mask[i] = dropped(i) ? static_cast<std::uint8_t>(1 + i % 255) : 0;
    masks.emplace_back(name, mask);
  };
  add("random", 70'003, [](std::size_t i) { return random_u64(1, i) % 2 == 0; });
  add("one in the middle", 40'000, [](std::size_t i) { return i == 16'384; });
  add("all but the last", 32'769, [](std::size_t i) { return i != 32'768; });
  add("every other block", 65'536, [](std::size_t i) { return i / 16'384 % 2 == 0; });
  for (const auto& [name, mask] : masks) {
    std::vector<AnyColumn> columns;
    std::vector<const AnyColumn*> pointers;
    for (const DType dtype : kAllTypes) columns.push_back(random_column(dtype, mask.size()));
    for (const AnyColumn& column : columns) pointers.push_back(&column);
    const std::vector<AnyColumn> out = compact(pointers, span_of(mask), ctx);
    ASSERT_EQ(out.size(), columns.size());
    for (std::size_t c = 0; c < out.size(); ++c) {
      EXPECT_EQ(out[c].dtype(), columns[c].dtype());
      EXPECT_EQ(bytes_of(out[c]) == plain(columns[c], mask), true)
          << name << " " << dtype_name(out[c].dtype());
      EXPECT_TRUE(out[c].size() == 0 || out[c].data() != columns[c].data());
    }
  }
}

TEST_P(Compact, NoColumnsAndOtherLengths) {
  const Mask drop{0, 1};
  EXPECT_TRUE(compact({}, span_of(drop), ctx).empty());
  const AnyColumn three(DType::kU8, 3);
  EXPECT_EQ(code_of([&] { compact({&three}, span_of(drop), ctx); }), ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Threads, Compact, testing::Values(1, 4));

TEST(CompactCancel, EndsInTimeWithManyColumns) {
  const AnyColumn column(DType::kF64, 2'000'000);
  const std::vector<const AnyColumn*> many(64, &column);
  Mask drop(column.size());
  for (std::size_t i = 0; i < drop.size(); i += 3) drop[i] = 1;
  expect_cancel_in_time([&](OpContext& ctx) { compact(many, span_of(drop), ctx); });
}

}  // namespace
}  // namespace pc::test

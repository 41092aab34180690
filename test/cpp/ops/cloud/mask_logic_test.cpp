#include "ops/cloud/mask_logic.h"

#include <gtest/gtest.h>

#include <random>

namespace pc {
namespace {

using Bytes = std::vector<std::uint8_t>;

Span<const std::uint8_t> view(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

CombinedMask combine(const std::vector<MaskTerm>& terms, MaskLogic logic, int threads = 0) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return combine_masks(terms, logic, ctx);
}

Bytes bytes_of(const CombinedMask& mask) { return Bytes(mask.mask.view().begin(), mask.mask.view().end()); }

TEST(MaskLogic, TruthTable) {
  const Bytes a{0, 0, 1, 7}, b{0, 2, 0, 255};
  EXPECT_EQ(bytes_of(combine({{view(a), false}, {view(b), false}}, MaskLogic::kAnd)), (Bytes{0, 0, 0, 1}));
  EXPECT_EQ(bytes_of(combine({{view(a), false}, {view(b), false}}, MaskLogic::kOr)), (Bytes{0, 1, 1, 1}));
  EXPECT_EQ(bytes_of(combine({{view(a), true}, {view(b), false}}, MaskLogic::kAnd)), (Bytes{0, 1, 0, 0}));
  EXPECT_EQ(bytes_of(combine({{view(a), true}, {view(b), true}}, MaskLogic::kOr)), (Bytes{1, 1, 1, 0}));
  EXPECT_EQ(bytes_of(combine({{view(a), true}}, MaskLogic::kAnd)), (Bytes{1, 1, 0, 0}));
}

TEST(MaskLogic, AnyThreadCountCountsEveryRow) {
  std::mt19937 random(7);
  Bytes a(3'000'001), b(a.size());
  for (auto& byte : a) byte = static_cast<std::uint8_t>(random() % 3);
  for (auto& byte : b) byte = static_cast<std::uint8_t>(random() % 2);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < a.size(); ++i) expected += a[i] != 0 && b[i] == 0;
  for (const int threads : {1, 2, 5}) {
    const auto mask = combine({{view(a), false}, {view(b), true}}, MaskLogic::kAnd, threads);
    EXPECT_EQ(mask.count, expected);
    for (std::size_t i = 0; i < a.size(); i += 997)
      EXPECT_EQ(mask.mask[i], a[i] != 0 && b[i] == 0 ? 1 : 0) << i;
  }
}

TEST(MaskLogic, EmptyAndRefused) {
  EXPECT_EQ(combine({{view({}), false}}, MaskLogic::kAnd).count, 0u);
  EXPECT_THROW(combine({}, MaskLogic::kAnd), Error);
  const Bytes a{1}, b{1, 1};
  EXPECT_THROW(combine({{view(a), false}, {view(b), false}}, MaskLogic::kOr), Error);
}

}  // namespace
}  // namespace pc

#include "ops/ray/pulse_returns.h"

#include <gtest/gtest.h>

#include <vector>

namespace pc {
namespace {

constexpr Rgb16 kBlack{0, 0, 0}, kWhite{65535, 65535, 65535};

std::vector<PulseReturn> returns_of(std::vector<RayEcho> echoes, const ReturnRules& rules) {
  for (std::size_t i = 0; i < echoes.size(); ++i) echoes[i].ray = static_cast<std::uint32_t>(i);
  std::vector<PulseReturn> returns;
  pulse_returns_of(echoes, rules, returns);
  return returns;
}

ReturnRules rules(double distance, std::uint32_t most,
                  ReturnSelection selection = ReturnSelection::kStrongest) {
  return {distance, 0, 10, most, selection};
}

TEST(PulseReturns, AGroupEndsBehindItsFirstEcho) {
  const auto found = returns_of({{5.03, 0, 1, kBlack, 0}, {5.00, 0, 1, kBlack, 0}, {5.015, 0, 1, kBlack, 0}},
                                rules(0.02, 9));
  ASSERT_EQ(found.size(), 2U);  // 5.03 is near 5.015, but not near 5.00
  EXPECT_NEAR(found[0].range_m, 5.0075, 1e-12);
  EXPECT_NEAR(found[0].deviation_m, 0.0075, 1e-12);
  EXPECT_EQ(found[0].ray_count, 2U);
  EXPECT_DOUBLE_EQ(found[0].energy, 0.2);
  EXPECT_EQ(found[1].ray_count, 1U);
  EXPECT_EQ(found[1].deviation_m, 0);
}

TEST(PulseReturns, RangesAreWeightedByEnergy) {
  const auto found = returns_of({{1, 0, 0.75F, kBlack, 1}, {1.01, 0, 0.25F, kWhite, 1}}, rules(0.02, 9));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].range_m, 1.0025, 1e-12);
  EXPECT_NEAR(found[0].energy, 0.1, 1e-12);
  EXPECT_EQ(found[0].color.r, 32768);
  EXPECT_EQ(found[0].organ, 1);
}

TEST(PulseReturns, EchoesWithoutEnergyCountEqually) {
  const auto found = returns_of({{1, 0, 0, kBlack, 0}, {1.01, 0, 0, kBlack, 0}}, rules(0.02, 9));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].range_m, 1.005, 1e-12);
  EXPECT_NEAR(found[0].deviation_m, 0.005, 1e-12);
}

TEST(PulseReturns, TheMostFrequentOrganAndTheLowestOfEquals) {
  const auto found =
      returns_of({{1, 0, 1, kBlack, 5}, {1, 0, 1, kBlack, 1}, {1, 0, 1, kBlack, 5}}, rules(0, 9));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].organ, 5);
  EXPECT_EQ(returns_of({{1, 0, 1, kBlack, 5}, {1, 0, 1, kBlack, 1}}, rules(0, 9))[0].organ, 1);
}

TEST(PulseReturns, SelectionKeepsTheOrderOfRanges) {
  const std::vector<RayEcho> echoes{{1, 0, 0.5F, kBlack, 0}, {2, 0, 1, kBlack, 0}, {3, 0, 0.75F, kBlack, 0}};
  const auto ranges = [&](std::uint32_t most, ReturnSelection selection) {
    std::vector<double> out;
    for (const auto& one : returns_of(echoes, rules(0.02, most, selection))) out.push_back(one.range_m);
    return out;
  };
  EXPECT_EQ(ranges(2, ReturnSelection::kStrongest), (std::vector<double>{2, 3}));
  EXPECT_EQ(ranges(1, ReturnSelection::kStrongest), (std::vector<double>{2}));
  EXPECT_EQ(ranges(2, ReturnSelection::kFirst), (std::vector<double>{1, 2}));
  EXPECT_EQ(ranges(2, ReturnSelection::kLast), (std::vector<double>{2, 3}));
  EXPECT_EQ(ranges(1, ReturnSelection::kLast), (std::vector<double>{3}));
  EXPECT_EQ(ranges(9, ReturnSelection::kLast).size(), 3U);
}

TEST(PulseReturns, WeakReturnsAreNotSeen) {
  ReturnRules strict = rules(0.02, 9);
  strict.detection_energy = 0.06;
  const auto found = returns_of({{1, 0, 0.5F, kBlack, 0}, {2, 0, 1, kBlack, 0}}, strict);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].range_m, 2);
  EXPECT_TRUE(returns_of({}, strict).empty());
}

}  // namespace
}  // namespace pc

#include "ops/lad/energy_balance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/beams.h"

namespace pc {
namespace {

using test::Pulses;

/// Pulses whose rays meet leaves one by one: of each pulse of `rays` rays, the returns with their energies and, if rays pass,
/// a miss. Leaves reflect `leaf`; their cosine is that of a spherical law, uniform in 0 .. 1.
struct RayPulses {
  Pulses pulses;
  std::vector<float> intensity;
  std::shared_ptr<AnyColumn> intensity_column;

  void add(double time, std::uint8_t index, const Vec3d& from, const Vec3d& to, bool miss, double energy) {
    pulses.add(from, to, miss);
    pulses.times.push_back(time);
    pulses.target_index.push_back(index);
    intensity.push_back(static_cast<float>(energy));
  }
  BeamScan scan(double scale, bool partial_misses) {
    BeamScan one = pulses.scan();
    intensity_column = std::make_shared<AnyColumn>(test::column_of(intensity));
    one.intensity = intensity_column.get();
    one.share_scale = scale;
    one.partial_misses = partial_misses;
    return one;
  }
};

const VoxelBox kBox{{0, 0, 0}, {2, 1, 1}, 2, 1, 1, 0, {}, {}};

/// Beams along x through two voxels. Half of a pulse may meet a leaf in the first voxel, the other half one in the second; a
/// cosine is drawn for each leaf, and leaves that are seen edge on fill their half less often.
RayPulses half_pulses(std::size_t count, double leaf) {
  RayPulses out;
  for (std::size_t i = 0; i < count; ++i) {
    const double y = test::in_range(1, i, -0.49, 0.49), time = static_cast<double>(i);
    const Vec3d from{-5, y, 0};
    double passed = 1;
    std::uint8_t returns = 0;
    for (const double x : {-0.5, 0.5}) {
      const double cosine = std::sqrt(test::in_range(2, 4 * i + (x > 0 ? 1 : 0), 0, 1));
      const double part = test::in_range(3, 4 * i + (x > 0 ? 1 : 0), 0, 1) < cosine ? 0.5 : 0.25;
      passed -= part;
      out.add(time, returns++, from, {x, y, 0}, false, leaf * part * cosine);
    }
    if (passed > 0) out.add(time, 99, from, {900, y, 0}, true, 0);
  }
  return out;
}

struct Rays {
  double first = 0, second = 0, energy = 0;
};

Rays rays_of(std::size_t count) {
  Rays sum;
  for (std::size_t i = 0; i < count; ++i) {
    for (const int k : {0, 1}) {
      const double cosine = std::sqrt(test::in_range(2, 4 * i + static_cast<std::size_t>(k), 0, 1));
      const double part = test::in_range(3, 4 * i + static_cast<std::size_t>(k), 0, 1) < cosine ? 0.5 : 0.25;
      (k == 0 ? sum.first : sum.second) += part;
      sum.energy += part * cosine;
    }
  }
  return sum;
}

EnergyBalance balance_of(const BeamScan& scan, const VoxelBox& grid, int threads) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  return energy_balance(scan, grid, ctx);
}

TEST(EnergyBalance, SharesByEnergyAreThoseOfTheRays) {
  constexpr std::size_t kCount = 40'000;
  RayPulses pulses = half_pulses(kCount, 0.4);
  const Rays truth = rays_of(kCount);
  const double hit_cosine = truth.energy / (truth.first + truth.second);
  const EnergyBalance balance = balance_of(pulses.scan(1 / 0.4, false), kBox, 2);
  EXPECT_NEAR(balance.whole_energy + balance.partial_energy, truth.energy, 1e-3 * truth.energy);
  const double cosine = partial_cosine(balance, hit_cosine);
  EXPECT_LT(cosine, hit_cosine);
  EXPECT_GT(balance.whole_energy / static_cast<double>(balance.whole_pulses), hit_cosine);
  for (const bool partial_misses : {true, false}) {
    const double by = partial_misses ? cosine : hit_cosine;
    const auto traced = test::trace({pulses.scan(1 / (0.4 * by), partial_misses)}, kBox);
    const auto sums = test::sums_of(traced);
    EXPECT_NEAR(sums[0].moment[0], kCount, 1e-3 * kCount);
    EXPECT_NEAR(sums[0].transmitted, kCount - truth.first, 0.01 * kCount) << partial_misses;
    EXPECT_NEAR(sums[1].moment[0], kCount - truth.first, 0.01 * kCount) << partial_misses;
    EXPECT_NEAR(sums[1].transmitted, kCount - truth.first - truth.second, 0.01 * kCount) << partial_misses;
    EXPECT_EQ(traced.reach.size(), 2 * kReachSumFields);
  }
  // Rows that count alike are far from the rays: two returns and a miss take a third each.
  const auto alike = test::sums_of(test::trace({pulses.pulses.scan()}, kBox));
  EXPECT_GT(std::abs(alike[1].transmitted - (kCount - truth.first - truth.second)), 0.02 * kCount);
}

TEST(EnergyBalance, TheSameBitsForAnyNumberOfThreads) {
  RayPulses pulses = half_pulses(20'000, 1);
  const EnergyBalance one = balance_of(pulses.scan(1, false), kBox, 1),
                      many = balance_of(pulses.scan(1, false), kBox, 5);
  EXPECT_EQ(one.whole_energy, many.whole_energy);
  EXPECT_EQ(one.partial_energy, many.partial_energy);
  const auto first = test::trace({pulses.scan(1, false)}, kBox, 1),
             second = test::trace({pulses.scan(1, false)}, kBox, 5);
  EXPECT_EQ(std::memcmp(first.sums.view().data, second.sums.view().data, first.sums.bytes()), 0);
  EXPECT_EQ(std::memcmp(first.reach.view().data, second.reach.view().data, first.reach.bytes()), 0);
}

TEST(EnergyBalance, OnlyPulsesWithAHitInAVoxelCount) {
  RayPulses pulses;
  pulses.add(0, 0, {-5, 0, 0}, {0.5, 0, 0}, false, 0.7);
  pulses.add(1, 0, {-5, 0, 0}, {3, 0, 0}, false, 0.9);   // behind the grid
  pulses.add(2, 0, {-5, 0, 0}, {-2, 0, 0}, false, 0.9);  // before it
  pulses.add(3, 0, {-5, 0, 0}, {0.5, 0, 0}, false, 0.2);
  pulses.add(3, 99, {-5, 0, 0}, {900, 0, 0}, true, 0);
  pulses.add(4, 0, {-5, 0, 0}, {0.5, 0, 0}, false, std::numeric_limits<float>::quiet_NaN());
  const EnergyBalance found = balance_of(pulses.scan(2, false), kBox, 2);
  EXPECT_EQ(found.whole_pulses, 1U);
  EXPECT_EQ(found.pulses, 2U);
  EXPECT_EQ(found.bright_pulses, 1U);
  EXPECT_NEAR(found.whole_energy, 1.4, 1e-6);
  EXPECT_NEAR(found.partial_energy, 0.4, 1e-6);
  EXPECT_EQ(test::trace({pulses.scan(2, false)}, kBox).scans[0].unusable_count, 1U);
}

TEST(EnergyBalance, ACosineThatTheEnergiesContradictIsNone) {
  EXPECT_DOUBLE_EQ(partial_cosine({100, 70, 0}, 0.6), 0.6);
  EXPECT_DOUBLE_EQ(partial_cosine({100, 70, 25}, 0.7), 0.7);
  EXPECT_NEAR(partial_cosine({100, 70, 20}, 0.65), 0.52, 1e-12);  // 65 = 100 x 0.65 of 90, 25 remain for 20
  EXPECT_TRUE(std::isnan(partial_cosine({100, 30, 20}, 0.65)));
  EXPECT_EQ(test::code_of([] { balance_of(Pulses{}.scan(), kBox, 1); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pc

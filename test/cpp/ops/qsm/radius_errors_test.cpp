#include "ops/qsm/radius_errors.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "ops/qsm/taper_posterior.h"

namespace pc {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// A stem of `count` pieces of 1 m, and a branch of three from its second.
std::vector<QsmCylinder> small_tree(std::size_t count) {
  std::vector<QsmCylinder> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto z = static_cast<double>(i);
    out.push_back({static_cast<std::int64_t>(i),
                   {0, 0, z},
                   {0, 0, z + 1},
                   0.1 - 0.01 * z,
                   static_cast<std::int64_t>(i) - 1,
                   0,
                   0});
  }
  for (std::int64_t k = 0; k < 3; ++k) {
    const auto id = static_cast<std::int64_t>(out.size());
    out.push_back({id,
                   {1.0 * static_cast<double>(k), 0, 2},
                   {1.0 + static_cast<double>(k), 0, 2},
                   0.03,
                   k == 0 ? 1 : id - 1,
                   1,
                   1});
  }
  return out;
}

TEST(RadiusErrors, VolumeErrsAsDrawnRadiiSay) {
  const std::vector<QsmCylinder> tree = small_tree(5);
  RadiusErrors errors{{0, 0.9, 0.8, 0.7, 0.6, 0.4, 0.9, 0.8},
                      {4e-4, 1e-4, 2e-4, 3e-4, 1e-4, 9e-4, 4e-4, 1e-4},
                      {{0.01, {}}, {0.02, {0, 0, 0, 0, 0, 1, 0.7, 0.5}}}};
  const VolumeErrors found = volume_errors(tree, errors);

  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  constexpr int kDraws = 100'000;
  double ss = 0, bb = 0, sb = 0;
  std::array<double, 2> truth{};
  for (int d = 0; d < kDraws; ++d) {
    std::array<double, 2> off{}, whole{};
    const double all = 0.01 * normal(engine), some = 0.02 * normal(engine);
    std::vector<double> error(tree.size());
    for (std::size_t i = 0; i < tree.size(); ++i) {
      error[i] = std::sqrt(errors.fresh[i]) * normal(engine);
      if (tree[i].parent_id >= 0)
        error[i] += errors.follows[i] * error[static_cast<std::size_t>(tree[i].parent_id)];
      const double volume = kPi * tree[i].radius * tree[i].radius;
      const std::size_t part = tree[i].rank == 0 ? 0 : 1;
      whole[part] += volume;
      off[part] += 2 * volume * (error[i] + all + some * errors.shared[1].share[i]);
    }
    truth = whole;
    ss += off[0] * off[0] / kDraws;
    bb += off[1] * off[1] / kDraws;
    sb += off[0] * off[1] / kDraws;
  }
  EXPECT_NEAR(found.stem_m3, truth[0], 1e-12);
  EXPECT_NEAR(found.branches_m3, truth[1], 1e-12);
  // 100,000 draws: a variance is known to 0.45 %.
  EXPECT_NEAR(found.stem, ss / (truth[0] * truth[0]), 0.02 * found.stem);
  EXPECT_NEAR(found.branches, bb / (truth[1] * truth[1]), 0.02 * found.branches);
  EXPECT_NEAR(found.both, sb / (truth[0] * truth[1]), 0.03 * found.both);
}

TEST(RadiusErrors, PiecesOfASegmentErrTogether) {
  std::vector<QsmCylinder> tree = small_tree(2);
  for (QsmCylinder& c : tree) c.radius_se = 0.05 * c.radius;
  tree[4].radius_se = 0.1 * tree[4].radius;
  const VolumeErrors found = volume_errors(tree, segment_errors(tree, 0));
  // Three pieces of one radius: mean relative error (.05 + .05 + .1) / 3, of the volume twice that.
  EXPECT_NEAR(std::sqrt(found.branches), 2 * 0.2 / 3, 1e-12);
  EXPECT_EQ(found.both, 0);
}

/// x of A x = b by elimination.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t r = 0; r < n; ++r) {
      if (r == k) continue;
      const double factor = a[r][k] / a[k][k];
      for (std::size_t c = k; c < n; ++c) a[r][c] -= factor * a[k][c];
      b[r] -= factor * b[k];
    }
  for (std::size_t k = 0; k < n; ++k) b[k] /= a[k][k];
  return b;
}

/// A stem alone is a Gaussian process along a line: its posterior has a closed form.
TEST(TaperPosterior, ErrorsOfAStemAreThoseOfItsCovariance) {
  constexpr std::size_t kCount = 6;
  constexpr double kSpread = 0.2, kReach = 3.0;  // kReach: metres, as in taper_posterior.cpp
  std::vector<QsmCylinder> stem = small_tree(kCount);
  stem.resize(kCount);
  TaperPrior prior{std::vector<double>(kCount, -2), std::vector<double>(kCount, kSpread),
                   std::vector<double>(kCount, 1), std::vector<std::uint32_t>(kCount, 0)};
  std::vector<Belief> measured(kCount);
  for (const std::size_t i : {0U, 2U, 3U}) measured[i] = {-2, 0.01 + 0.01 * static_cast<double>(i)};
  const TaperPosterior found = taper_posterior(stem, measured, prior);

  // A measurement that fits counts (4 + 1) / 4 of its weight.
  const auto noise = [&](std::size_t i) { return measured[i].variance / 1.25; };
  const auto prior_covariance = [&](std::size_t i, std::size_t j) {
    return kSpread * kSpread * std::exp(-std::fabs(static_cast<double>(i) - static_cast<double>(j)) / kReach);
  };
  const std::vector<std::size_t> seen{0, 2, 3};
  std::vector<std::vector<double>> s(3, std::vector<double>(3));
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      s[a][b] = prior_covariance(seen[a], seen[b]) + (a == b ? noise(seen[a]) : 0);
  const auto covariance = [&](std::size_t i, std::size_t j) {
    std::vector<double> of_j;
    for (const std::size_t k : seen) of_j.push_back(prior_covariance(k, j));
    const std::vector<double> x = solved(s, of_j);
    double value = prior_covariance(i, j);
    for (std::size_t a = 0; a < 3; ++a) value -= prior_covariance(i, seen[a]) * x[a];
    return value;
  };
  double variance = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double before = variance;
    variance = found.follows[i] * found.follows[i] * variance + found.fresh[i];
    EXPECT_NEAR(variance, covariance(i, i), 1e-6) << i;
    EXPECT_NEAR(found.deviation[i].variance, covariance(i, i), 1e-6) << i;
    if (i > 0) {
      EXPECT_NEAR(found.follows[i] * before, covariance(i, i - 1), 1e-6) << i;
    }
  }
  const std::vector<double> ones = solved(s, {1, 1, 1});
  EXPECT_NEAR(found.level_information.at(0), ones[0] + ones[1] + ones[2], 1e-3);
  for (std::size_t i = 0; i < kCount; ++i) {
    double kept = 1;
    for (std::size_t a = 0; a < 3; ++a) kept -= prior_covariance(i, seen[a]) * ones[a];
    EXPECT_NEAR(found.law_share[i], kept, 1e-5) << i;
  }
}

}  // namespace
}  // namespace pc

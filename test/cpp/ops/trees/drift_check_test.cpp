// Whether what views of stems differ by is drift of the scanner, or an error of single places.
#include "ops/trees/drift_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace pc;
using Stems = std::vector<std::vector<ViewPlace>>;

/// A place that is known to a millimetre along both axes, and nothing of the radius.
ViewPlace at(double scan, double time, double x, double y) {
  constexpr double kKnown = 1e6;
  return {{scan, time}, {x, y}, {kKnown, 0, 0, 0, kKnown, 0, 0, 0, 0}, {0, 0, 0}, 1e-4};
}

bool is_real(const Stems& stems) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  return is_real_drift(stems, ctx);
}

double spread(const Stems& stems) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const auto fit = fit_drift(stems, ctx);
  return fit ? fit->spread_m : std::nan("");
}

/// Stems 4 m apart, each seen by `seen` of the scans, which lie `offset_m` off; each place is wrong by `error_m`.
Stems stand(int count, int scans, int seen, double offset_m, double error_m) {
  std::mt19937_64 random{7};
  std::normal_distribution<double> normal(0, 1);
  std::vector<Vec2d> off;
  for (int scan = 0; scan < scans; ++scan) {
    const double x = offset_m * normal(random);
    off.push_back({x, offset_m * normal(random)});
  }
  Stems out;
  for (int stem = 0; stem < count; ++stem) {
    out.emplace_back();
    for (int k = 0; k < seen; ++k) {
      const int scan = (stem * 3 + k * 7) % scans;
      const Vec2d by = off[static_cast<std::size_t>(scan)];
      const double x = 4.0 * (stem % 5) + by.x + error_m * normal(random);
      out.back().push_back(at(scan, 1000.0 * scan, x, 4.0 * (stem / 5) + by.y + error_m * normal(random)));
    }
  }
  return out;
}

TEST(DriftCheck, ScansThatLieApartAreSeenByOtherStems) {
  EXPECT_TRUE(is_real(stand(25, 4, 4, 0.03, 0.002)));
  EXPECT_TRUE(is_real(stand(25, 4, 4, 0.03, 0)));
  EXPECT_TRUE(is_real(stand(60, 10, 5, 0.03, 0.006)));
  EXPECT_TRUE(is_real(stand(8, 2, 2, 0.05, 0.003)));
}

TEST(DriftCheck, ErrorsOfSinglePlacesAreNone) {
  for (const auto& [stems, scans, seen] : {std::tuple{25, 4, 4}, {60, 10, 5}, {16, 15, 8}}) {
    const Stems wrong = stand(stems, scans, seen, 0, 0.02);
    EXPECT_GT(spread(wrong), 0.001);
    EXPECT_FALSE(is_real(wrong)) << stems << " " << scans;
  }
}

TEST(DriftCheck, TooFewStemsForTheScansSayNothing) {
  // The fit takes all of it for drift: there are as many values as places.
  const Stems few = stand(6, 10, 2, 0, 0.02);
  EXPECT_GT(spread(few), 0.005);
  EXPECT_FALSE(is_real(few));
  EXPECT_FALSE(is_real(stand(3, 2, 2, 0.05, 0)));
  EXPECT_TRUE(is_real(stand(4, 2, 2, 0.05, 0)));
  EXPECT_FALSE(is_real({}));
  Stems once = stand(25, 4, 4, 0.03, 0.002);
  for (auto& places : once) places.resize(1);
  EXPECT_FALSE(is_real(once));
}

TEST(DriftCheck, AWalkThatDriftsSlowly) {
  std::mt19937_64 random{9};
  std::normal_distribution<double> normal(0, 0.002);
  for (const double drift_m : {0.0, 0.04}) {
    Stems walk;
    for (int stem = 0; stem < 40; ++stem) {
      walk.emplace_back();
      for (int visit = 0; visit < 4; ++visit) {
        const double time = 6.0 * stem + 260 * visit;
        const double x = drift_m * std::sin(time / 40), y = drift_m * std::cos(time / 55);
        walk.back().push_back(
            at(0, time, 3.0 * (stem % 8) + x + normal(random), 3.0 * (stem / 8) + y + normal(random)));
      }
    }
    EXPECT_EQ(is_real(walk), drift_m > 0) << drift_m;
  }
}

}  // namespace

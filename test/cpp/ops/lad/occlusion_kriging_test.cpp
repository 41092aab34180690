#include "ops/lad/occlusion_kriging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/linear_solve.h"
#include "ops/lad/beer_lambert.h"
#include "support/beams.h"
#include "support/cancel.h"

namespace pc {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint8_t kMeasured = kVoxelProbed | kVoxelSolved, kHidden = kVoxelProbed | kVoxelOccluded;

OpContext context() {
  static JobControl control;
  return OpContext(control, Device::kCpu, 2);
}

std::vector<KrigingDonor> random_donors(std::size_t count) {
  std::vector<KrigingDonor> donors;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Vec3d p{test::in_range(1, 4 * i, 0, 5), test::in_range(1, 4 * i + 1, 0, 5),
                  test::in_range(1, 4 * i + 2, 0, 5)};
    donors.push_back({p, std::sin(p.x) + 0.5 * p.z, 0.01 * random_unit(1, 4 * i + 3)});
  }
  return donors;
}

TEST(OrdinaryKriging, EqualsTheWholeSystemWithItsMultiplier) {
  OpContext ctx = context();
  const auto donors = random_donors(60);
  const Variogram variogram{0.02, 0.9, 3};
  const OrdinaryKriging kriging(donors, variogram, ctx);
  ASSERT_TRUE(kriging.solvable());
  const std::size_t n = donors.size();
  const auto covariance = [&](const Vec3d& a, const Vec3d& b) {
    return 0.88 * std::exp(-std::sqrt(squared_distance(a, b)));
  };
  std::vector<double> matrix((n + 1) * (n + 1), 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      matrix[i * (n + 1) + j] =
          i == j ? variogram.sill + donors[i].variance : covariance(donors[i].place, donors[j].place);
  }
  matrix[(n + 1) * (n + 1) - 1] = 0;
  for (const Vec3d& place : {Vec3d{1, 2, 3}, Vec3d{4.9, 0.1, 2}, Vec3d{20, 20, 20}}) {
    std::vector<double> right(n + 1, 1.0);
    for (std::size_t i = 0; i < n; ++i) right[i] = covariance(place, donors[i].place);
    const auto solved = solve_least_squares({test::span_of(matrix), n + 1, n + 1}, test::span_of(right));
    double wanted = 0;
    for (std::size_t i = 0; i < n; ++i) wanted += solved.x[i] * donors[i].value;
    EXPECT_NEAR(kriging.estimate(place), wanted, 1e-8);
  }
}

/// A field that is smooth in x and y and has no layers, with every hidden voxel marked.
struct Field {
  VoxelBox grid{{0, 0, 0}, {12, 12, 6}, 12, 12, 6, 0, {}, {}};
  std::vector<double> truth, lad, variance;
  std::vector<std::uint8_t> state;
  explicit Field(double amplitude = 1) {
    for (std::size_t v = 0; v < 864; ++v) {
      const double x = static_cast<double>(v % 12), y = static_cast<double>(v / 12 % 12);
      truth.push_back(2 + amplitude * (std::sin(x / 2) + std::cos(y / 3)));
      const bool hidden = random_unit(9, v) < 0.2;
      lad.push_back(hidden ? 0 : truth.back() + 0.02 * (random_unit(10, v) - 0.5));
      variance.push_back(hidden ? kNaN : 1e-4);
      state.push_back(hidden ? kHidden : kMeasured);
    }
  }
  OcclusionKrigingResult fill() const {
    OpContext ctx = context();
    return occlusion_kriging(test::span_of(lad), test::span_of(variance), test::span_of(state), grid, ctx);
  }
  std::vector<double> errors(const std::vector<double>& of) const {
    std::vector<double> out;
    for (std::size_t v = 0; v < of.size(); ++v) {
      if (state[v] == kHidden) out.push_back(std::abs(of[v] - truth[v]));
    }
    std::sort(out.begin(), out.end());
    return out;
  }
};

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

TEST(OcclusionKriging, HalvesTheErrorOfLayerMeansOnAStructuredField) {
  const Field field;
  const auto found = field.fill();
  EXPECT_EQ(found.method, OcclusionFill::kKriging);
  std::vector<double> kriged, means;
  for (std::size_t layer = 0; layer < 6; ++layer) {
    double sum = 0, count = 0;
    for (std::size_t v = layer * 144; v < (layer + 1) * 144; ++v) {
      if (field.state[v] == kMeasured) sum += field.lad[v], count += 1;
    }
    for (std::size_t v = layer * 144; v < (layer + 1) * 144; ++v) means.push_back(sum / count);
  }
  for (std::size_t v = 0; v < 864; ++v) kriged.push_back(found.lad[v]);
  EXPECT_LT(median(field.errors(kriged)), 0.5 * median(field.errors(means)));
  EXPECT_EQ(found.filled_count, field.errors(means).size());
  for (std::size_t v = 0; v < 864; ++v) {
    if (field.state[v] == kMeasured) {
      EXPECT_EQ(found.lad[v], field.lad[v]);
      EXPECT_EQ(found.state[v], kMeasured);
    } else {
      EXPECT_EQ(found.state[v], kHidden | kVoxelFilled);
    }
  }
}

TEST(OcclusionKriging, FewDonorsGiveTheMeanOfTheirLayer) {
  Field field;
  std::fill(field.state.begin(), field.state.end(), 0);
  field.state[0] = field.state[5] = kMeasured;
  field.variance[0] = field.variance[5] = 0.1;
  field.lad[0] = 1, field.lad[5] = 3;
  field.state[9] = field.state[150] = kHidden;
  const auto found = field.fill();
  EXPECT_EQ(found.method, OcclusionFill::kLayerMean);
  EXPECT_EQ(found.filled_count, 1U);
  EXPECT_EQ(found.lad[9], 2);
  EXPECT_EQ(found.state[150], kHidden) << "a layer without donors stays unfilled";
}

TEST(OcclusionKriging, NothingHiddenNothingMeasured) {
  Field field;
  std::fill(field.state.begin(), field.state.end(), kMeasured);
  EXPECT_EQ(field.fill().method, OcclusionFill::kNone);
  std::fill(field.state.begin(), field.state.end(), kHidden);
  EXPECT_EQ(field.fill().filled_count, 0U);
}

TEST(OcclusionKriging, AFlatFieldHasNoVariogram) {
  Field field(0);
  for (double& value : field.lad) value = value > 0 ? 2 : 0;
  const auto found = field.fill();
  for (std::size_t v = 0; v < 864; ++v) EXPECT_NEAR(found.lad[v], 2, 1e-6);
}

TEST(OcclusionKriging, EstimatesStayBetweenZeroAndTheLargestDonor) {
  Field field(3);
  for (double& value : field.lad) value = std::max(0.0, value);
  const double largest = *std::max_element(field.lad.begin(), field.lad.end());
  const auto found = field.fill();
  for (std::size_t v = 0; v < 864; ++v) {
    EXPECT_GE(found.lad[v], 0);
    EXPECT_LE(found.lad[v], largest);
  }
}

TEST(OcclusionKriging, CancelEndsItInTime) {
  VoxelBox grid{{0, 0, 0}, {40, 40, 20}, 40, 40, 20, 0, {}, {}};
  std::vector<double> lad, variance;
  std::vector<std::uint8_t> state;
  for (std::size_t v = 0; v < 32'000; ++v) {
    const bool hidden = random_unit(11, v) < 0.9;
    lad.push_back(hidden ? 0 : 2 + std::sin(static_cast<double>(v % 40) / 5));
    variance.push_back(hidden ? kNaN : 1e-4);
    state.push_back(hidden ? kHidden : kMeasured);
  }
  test::expect_cancel_in_time([&](OpContext& ctx) {
    occlusion_kriging(test::span_of(lad), test::span_of(variance), test::span_of(state), grid, ctx);
  });
}

}  // namespace
}  // namespace pc

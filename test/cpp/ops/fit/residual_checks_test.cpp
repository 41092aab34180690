#include "ops/fit/residual_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"

namespace pc {
namespace {

Span<const double> view(const std::vector<double>& values) { return {values.data(), values.size()}; }

/// About normal: twelve uniform numbers less 6.
double normal(std::uint64_t seed, std::uint64_t row) {
  double sum = -6;
  for (std::uint64_t k = 0; k < 12; ++k) sum += random_unit(seed, 12 * row + k);
  return sum;
}

std::vector<double> order(std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<double>(i));
  return out;
}

TEST(ResidualChecks, StudentizedResidualOfAMean) {
  // Values 1, 2, 3, 4, 10: mean 4, residual 6 of the last, leverage 1/5, variance 12.5, others: variance 5/3 about 2.5.
  const std::vector<double> residuals{-3, -2, -1, 0, 6};
  const std::vector<double> errors(5, std::sqrt(12.5 / 5));
  const ResidualChecks found = residual_checks(view(residuals), view(errors), view(order(5)), 4);
  EXPECT_EQ(found.outlier_row, 4u);
  // The value less the mean of the others, by the standard deviation of that difference.
  EXPECT_NEAR(found.outlier_deviations, 7.5 / std::sqrt(5.0 / 3 * 1.25), 1e-12);
  EXPECT_NEAR(found.outlier_probability, 5 * 0.013846833,
              1e-7);  // t with 3 degrees of freedom, both tails: 5.196
}

TEST(ResidualChecks, RunsAreCountedAlongTheOrder) {
  const std::vector<double> residuals{1, 1, 1, -1, -1, -1};
  const std::vector<double> none;
  const ResidualChecks along = residual_checks(view(residuals), view(none), view(order(6)), 5);
  EXPECT_EQ(along.run_count, 2u);
  EXPECT_NEAR(along.run_probability, 2.0 / 20, 1e-12);
  const ResidualChecks mixed =
      residual_checks(view(residuals), view(none), view(std::vector<double>{0, 2, 4, 1, 3, 5}), 5);
  EXPECT_EQ(mixed.run_count, 6u);
  EXPECT_NEAR(mixed.run_probability, 1, 1e-12);
  const ResidualChecks three =
      residual_checks(view(std::vector<double>{1, -1, -1, -1, 1, 1}), view(none), view(order(6)), 5);
  EXPECT_NEAR(three.run_probability, 6.0 / 20, 1e-12);  // 2 ways of two runs, 4 of three
}

TEST(ResidualChecks, NothingIsSaidOfFewRowsOrNoResiduals) {
  const std::vector<double> residuals{-1, 2, -1};
  const ResidualChecks few = residual_checks(view(residuals), {}, view(order(3)), 2);
  EXPECT_TRUE(std::isnan(few.outlier_deviations));
  EXPECT_EQ(few.outlier_probability, 1);
  EXPECT_EQ(few.run_probability, 1);
  const std::vector<double> zeros(9, 0.0);
  EXPECT_EQ(residual_checks(view(zeros), {}, view(order(9)), 8).outlier_probability, 1);
  const std::vector<double> plus(9, 1.0);
  EXPECT_EQ(residual_checks(view(plus), {}, view(order(9)), 8).run_probability, 1);
}

TEST(ResidualChecks, FalseAlarmsAreAsRareAsTheyShouldBe) {
  constexpr std::size_t kSets = 4000, kRows = 20;
  std::size_t outliers = 0, runs = 0;
  for (std::uint64_t set = 0; set < kSets; ++set) {
    std::vector<double> residuals;
    double mean = 0, squares = 0;
    for (std::uint64_t i = 0; i < kRows; ++i) residuals.push_back(normal(set, i));
    for (const double value : residuals) mean += value / kRows;
    for (double& value : residuals) {
      value -= mean;
      squares += value * value;
    }
    const std::vector<double> errors(kRows, std::sqrt(squares / (kRows - 1) / kRows));
    const ResidualChecks found =
        residual_checks(view(residuals), view(errors), view(order(kRows)), kRows - 1);
    outliers += found.outlier_probability < 0.05 ? 1 : 0;
    runs += found.run_probability < 0.05 ? 1 : 0;
  }
  EXPECT_LT(outliers, 0.055 * kSets);
  EXPECT_GT(outliers, 0.03 * kSets);
  EXPECT_LT(runs, 0.055 * kSets);
}

}  // namespace
}  // namespace pc

#include "core/linear_solve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"

namespace pc {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

Span<const double> span_of(const std::vector<double>& values) { return {values.data(), values.size()}; }

std::vector<double> random_values(std::size_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 2 * random_unit(seed, i) - 1;
  return values;
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// b - A x.
std::vector<double> residual(const std::vector<double>& a, const std::vector<double>& x,
                             const std::vector<double>& b) {
  std::vector<double> off = b;
  for (std::size_t i = 0; i < b.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) off[i] -= a[i * x.size() + j] * x[j];
  return off;
}

TEST(LinearSolve, LeastSquaresLeavesAResidualAtRightAnglesToTheColumns) {
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {3, 3}, {40, 7}, {100, 100}}) {
    const auto a = random_values(rows * columns, rows), b = random_values(rows, 99);
    const LeastSquares found = solve_least_squares({span_of(a), rows, columns}, span_of(b));
    EXPECT_EQ(found.rank, columns);
    const auto off = residual(a, found.x, b);
    for (std::size_t j = 0; j < columns; ++j) {
      double along = 0;
      for (std::size_t i = 0; i < rows; ++i) along += a[i * columns + j] * off[i];
      EXPECT_LE(std::abs(along), 1000 * kEps * norm(a) * (norm(b) + norm(a) * norm(found.x)))
          << rows << " " << j;
    }
  }
}

TEST(LinearSolve, OfManySolutionsTheShortestIsTaken) {
  // x + y = 2 twice: the shortest solution is (1, 1).
  const std::vector<double> a{1, 1, 1, 1}, b{2, 2};
  const LeastSquares found = solve_least_squares({span_of(a), 2, 2}, span_of(b));
  EXPECT_EQ(found.rank, 1U);
  EXPECT_NEAR(found.x[0], 1, 8 * kEps);
  EXPECT_NEAR(found.x[1], 1, 8 * kEps);
  const LeastSquares zero = solve_least_squares({span_of({0, 0, 0, 0}), 2, 2}, span_of(b));
  EXPECT_EQ(zero.rank, 0U);
  EXPECT_EQ(zero.x, (std::vector<double>{0, 0}));
  EXPECT_EQ(solve_least_squares({{}, 0, 2}, {}).x, (std::vector<double>{0, 0}));
}

TEST(LinearSolve, PositiveDefiniteSystemsAreSolvedAndOthersNot) {
  constexpr std::size_t kSize = 60;
  const auto g = random_values(kSize * kSize, 5), b = random_values(kSize, 6);
  std::vector<double> a(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i)
    for (std::size_t j = 0; j < kSize; ++j) {
      for (std::size_t k = 0; k < kSize; ++k) a[i * kSize + j] += g[k * kSize + i] * g[k * kSize + j];
      if (i == j) a[i * kSize + j] += 1;
    }
  const auto x = solve_positive_definite({span_of(a), kSize, kSize}, span_of(b));
  ASSERT_TRUE(x);
  EXPECT_LE(norm(residual(a, *x, b)), 100 * kEps * norm(a) * norm(*x));

  auto upper = a;  // only the lower triangle is read
  for (std::size_t i = 0; i < kSize; ++i)
    for (std::size_t j = i + 1; j < kSize; ++j) upper[i * kSize + j] = 7;
  EXPECT_EQ(*solve_positive_definite({span_of(upper), kSize, kSize}, span_of(b)), *x);

  a[0] = -1;
  EXPECT_FALSE(solve_positive_definite({span_of(a), kSize, kSize}, span_of(b)));
}

/// Laplace's equation on a grid of side x side cells, held at its rim: 4 on the diagonal, -1 to each neighbour.
std::vector<SparseEntry> grid(std::uint32_t side) {
  std::vector<SparseEntry> entries;
  for (std::uint32_t i = 0; i < side * side; ++i) {
    entries.push_back({i, i, 3});
    entries.push_back({i, i, 1});  // adds up
    if (i % side != 0) entries.push_back({i, i - 1, -1});
    if (i >= side) entries.push_back({i, i - side, -1});
  }
  return entries;
}

TEST(LinearSolve, SparseSystemsAreSolved) {
  constexpr std::uint32_t kSide = 70;
  const auto entries = grid(kSide);
  const SparseCholesky factors(kSide * kSide, {entries.data(), entries.size()});
  ASSERT_TRUE(factors.positive_definite());
  for (const std::uint64_t seed : {1U, 2U}) {
    const auto b = random_values(kSide * kSide, seed);
    const auto x = factors.solve(span_of(b));
    auto off = b;
    for (const SparseEntry& e : entries) {
      off[e.row] -= e.value * x[e.column];
      if (e.row != e.column) off[e.column] -= e.value * x[e.row];
    }
    EXPECT_LE(norm(off), 100 * kEps * 8 * norm(x));
    EXPECT_EQ(factors.solve(span_of(b)), x);  // the same bits
  }
}

TEST(LinearSolve, ASparseMatrixThatIsNotPositiveDefiniteIsSaidToBe) {
  auto entries = grid(5);
  entries.push_back({12, 12, -9});
  const SparseCholesky indefinite(25, {entries.data(), entries.size()});
  EXPECT_FALSE(indefinite.positive_definite());
  EXPECT_THROW(indefinite.solve(span_of(std::vector<double>(25))), Error);
  const SparseCholesky singular(3, {entries.data(), 1});
  EXPECT_FALSE(singular.positive_definite());
}

TEST(LinearSolve, RefusesWhatIsNoSystem) {
  const std::vector<double> four{1, 0, 0, 1}, two{1, 1}, bad{1, std::nan("")};
  EXPECT_THROW(solve_least_squares({span_of(four), 2, 3}, span_of(two)), Error);
  EXPECT_THROW(solve_least_squares({span_of(four), 2, 2}, span_of(four)), Error);
  EXPECT_THROW(solve_least_squares({span_of(four), 2, 2}, span_of(bad)), Error);
  EXPECT_THROW(solve_least_squares({span_of(bad), 2, 1}, span_of(two)), Error);
  EXPECT_THROW(solve_positive_definite({span_of(four), 1, 4}, span_of(two)), Error);
  const SparseEntry above{0, 1, 1}, outside{2, 0, 1}, nan{1, 0, std::nan("")};
  for (const SparseEntry& entry : {above, outside, nan}) EXPECT_THROW(SparseCholesky(2, {&entry, 1}), Error);
}

}  // namespace
}  // namespace pc

#include "core/linear_solve.h"

// The only file that includes Eigen: its permissively licensed part, without its threads; ours are those of parallel.h.
#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <Eigen/SparseCholesky>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"

namespace pc {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Index = Eigen::Index;

bool all_finite(Span<const double> values) {
  for (const double value : values)
    if (!std::isfinite(value)) return false;
  return true;
}

Eigen::Map<const RowMajor> matrix_of(const MatrixView& a) {
  require(a.values.size == a.rows * a.columns, "a matrix needs rows * columns values");
  require(all_finite(a.values), "the values of a matrix must be finite");
  return {a.values.data, static_cast<Index>(a.rows), static_cast<Index>(a.columns)};
}

Eigen::Map<const Eigen::VectorXd> vector_of(Span<const double> b, std::size_t size) {
  require(b.size == size, "the right-hand side must have one value per row");
  require(all_finite(b), "the right-hand side must be finite");
  return {b.data, static_cast<Index>(size)};
}

std::vector<double> to_vector(const Eigen::VectorXd& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace

LeastSquares solve_least_squares(const MatrixView& a, Span<const double> b) {
  const auto matrix = matrix_of(a);
  const auto right = vector_of(b, a.rows);
  if (a.rows == 0 || a.columns == 0) return {std::vector<double>(a.columns, 0.0), 0};
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factors(matrix);
  return {to_vector(factors.solve(right)), static_cast<std::size_t>(factors.rank())};
}

std::optional<std::vector<double>> solve_positive_definite(const MatrixView& a, Span<const double> b) {
  require(a.rows == a.columns, "a positive definite matrix is square");
  const auto matrix = matrix_of(a);
  const auto right = vector_of(b, a.rows);
  const Eigen::LLT<Eigen::MatrixXd, Eigen::Lower> factors(matrix);
  if (factors.info() != Eigen::Success) return std::nullopt;
  return to_vector(factors.solve(right));
}

struct SparseCholesky::Factors {
  std::size_t size;
  bool positive_definite = false;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> ldlt;
};

SparseCholesky::SparseCholesky(std::size_t size, Span<const SparseEntry> entries)
    : factors_(std::make_unique<Factors>()) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
          "a sparse matrix has fewer than 2^31 rows");
  factors_->size = size;
  std::vector<Eigen::Triplet<double>> triplets;
  triplets.reserve(entries.size);
  for (const SparseEntry& entry : entries) {
    require(entry.row < size && entry.column <= entry.row,
            "an entry lies outside the lower triangle of its matrix");
    require(std::isfinite(entry.value), "the values of a matrix must be finite");
    triplets.emplace_back(static_cast<int>(entry.row), static_cast<int>(entry.column), entry.value);
  }
  Eigen::SparseMatrix<double> matrix(static_cast<Index>(size), static_cast<Index>(size));
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  factors_->ldlt.compute(matrix);
  factors_->positive_definite =
      factors_->ldlt.info() == Eigen::Success && (factors_->ldlt.vectorD().array() > 0).all();
}

SparseCholesky::SparseCholesky(SparseCholesky&&) noexcept = default;
SparseCholesky& SparseCholesky::operator=(SparseCholesky&&) noexcept = default;
SparseCholesky::~SparseCholesky() = default;

bool SparseCholesky::positive_definite() const { return factors_->positive_definite; }

std::vector<double> SparseCholesky::solve(Span<const double> b) const {
  require(factors_->positive_definite, "the matrix is not positive definite");
  const auto right = vector_of(b, factors_->size);
  return to_vector(factors_->ldlt.solve(right));
}

}  // namespace pc

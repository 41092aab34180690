#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/span.h"

/// Linear systems on the host. Each call uses one thread, gives the same bits every time and cannot be canceled, so the
/// caller must bound the size (100 x 100 dense: under 1 ms; a grid of 300 x 300 unknowns: about 0.5 s).
namespace pc {

/// A dense matrix, stored row by row.
struct MatrixView {
  Span<const double> values;  ///< (rows * columns)
  std::size_t rows, columns;
};

struct LeastSquares {
  std::vector<double> x;  ///< (columns) minimises |A x - b|; the shortest if there are several
  std::size_t rank;
};

/// Least squares of any shape and rank by a complete orthogonal decomposition.
///
/// b        (rows)
/// Cost     O(rows columns^2).
/// Errors   kInvalidArgument for lengths that do not fit and for values that are not finite.
LeastSquares solve_least_squares(const MatrixView& a, Span<const double> b);

/// Solves A x = b for a symmetric positive definite matrix, of which only the lower triangle is read (Cholesky).
/// Returns nothing if the matrix is not positive definite.
///
/// Cost     O(n^3).
/// Errors   kInvalidArgument for lengths that do not fit, a matrix that is not square, values that are not finite.
std::optional<std::vector<double>> solve_positive_definite(const MatrixView& a, Span<const double> b);

/// One value of a sparse matrix.
struct SparseEntry {
  std::uint32_t row, column;
  double value;
};

/// Factors of a symmetric positive definite sparse matrix (LDL^T with minimum degree ordering), for any number of right-hand
/// sides.
///
/// Cost     O(n^1.5) time for the graph of a grid of n unknowns, O(n^3) for a full matrix.
class SparseCholesky {
 public:
  /// size      rows and columns, below 2^31
  /// entries   of the lower triangle (row >= column); entries at the same position are added
  /// Errors    kInvalidArgument for an entry outside the lower triangle or not finite.
  SparseCholesky(std::size_t size, Span<const SparseEntry> entries);
  SparseCholesky(SparseCholesky&&) noexcept;
  SparseCholesky& operator=(SparseCholesky&&) noexcept;
  ~SparseCholesky();

  /// False if the matrix is not positive definite; solve() then throws.
  bool positive_definite() const;
  /// Solves A x = b; b is (size). Throws kInvalidArgument for another length, b not finite, or a matrix that is not
  /// positive definite.
  std::vector<double> solve(Span<const double> b) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace pc

#pragma once
#include <array>

namespace pc {

/// Eigenvalues of a symmetric 6 x 6 matrix in ascending order, with a unit eigenvector each.
struct SymmetricEigen6 {
  std::array<double, 6> value;
  std::array<std::array<double, 6>, 6> vector;
};

/// lower    rows of the lower triangle, finite
/// Order    The same bits every time.
/// Source   Cyclic Jacobi (Rutishauser 1966), as core/symmetric_eigen.h.
SymmetricEigen6 symmetric_eigen6(const std::array<double, 21>& lower);

}  // namespace pc

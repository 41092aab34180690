#pragma once
#include <array>
#include <cstddef>

#include "ops/lad/beam_traversal.h"

namespace pc {

/// Chords with weights that stand for the chords of a voxel: sums over them agree with those over all beams for every
/// polynomial of the chord up to degree 2 count - 1.
struct ChordQuadrature {
  std::size_t count;                             ///< 1 .. kChordMoments / 2
  std::array<double, kChordMoments / 2> chord;   ///< shares of the diagonal of a voxel, 0 .. 1, ascending
  std::array<double, kChordMoments / 2> weight;  ///< > 0, their sum is 1
};

/// The Gauss quadrature of the distribution whose moments are given. mean exp(-k d) of it is exact to
/// (k D / 4)^8 2 / 8!, D = diagonal; for k D <= 2, 2e-7.
///
/// moment   sum u^m over the beams, m = 0 .. 7; moment[0] > 0, 0 <= u <= 1
/// Order    Fewer nodes where the chords hardly differ (variance of the next node below 1e-10) or rounding leaves no
///          node within 0 .. 1.
/// Cost     Under a microsecond.
/// Source   Golub & Welsch 1969, "Calculation of Gauss quadrature rules"; recurrence by the Chebyshev algorithm
///          (Gautschi 2004, Orthogonal Polynomials, 2.1.7) on the moments about the mean; Jacobi eigenvalues by cyclic
///          rotations (Golub & Van Loan, Matrix Computations, algorithm 8.5.3).
ChordQuadrature chord_quadrature(const std::array<double, kChordMoments>& moment);

}  // namespace pc

#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "core/error.h"

namespace pc {

/// First and second derivatives of a function of N variables.
template <std::size_t N>
struct Derivatives {
  std::array<double, N> gradient{};
  std::array<std::array<double, N>, N> hessian{};  ///< lower triangle

  /// Adds those of -log(s), given the value s and the derivatives of s.
  void add_barrier(double s, const std::array<double, N>& ds) {
    for (std::size_t i = 0; i < N; ++i) {
      gradient[i] -= ds[i] / s;
      for (std::size_t j = 0; j <= i; ++j) hessian[i][j] += (ds[i] / s) * (ds[j] / s);
    }
  }
};

/// Solves H x = b by Cholesky; nothing if H is not positive definite.
template <std::size_t N>
std::optional<std::array<double, N>> solve_small(std::array<std::array<double, N>, N> h,
                                                 std::array<double, N> b) {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = h[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= h[i][k] * h[j][k];
      if (i != j) {
        h[i][j] = sum / h[j][j];
      } else if (sum > 0) {
        h[i][i] = std::sqrt(sum);
      } else {
        return std::nullopt;
      }
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= h[i][k] * b[k];
    b[i] /= h[i][i];
  }
  for (std::size_t i = N; i-- > 0;) {
    for (std::size_t k = i + 1; k < N; ++k) b[i] -= h[k][i] * b[k];
    b[i] /= h[i][i];
  }
  return b;
}

/// Minimises a convex self-concordant objective under convex constraints by following the central path.
///
/// x             a point inside all constraints
/// barrier_terms the parameter of the barrier: the gap to the optimum is barrier_terms / weight
/// derivatives   derivatives(x, weight): of weight * objective - sum of log(constraint)
/// inside        whether x is inside all constraints
/// Order    Exact to a gap of 1e-9 in the objective; the same bits every time.
/// Cost     About 100 evaluations of the derivatives.
/// Source   Boyd & Vandenberghe 2004, Convex Optimization, algorithm 11.1 with the damped Newton steps of section 9.6.
template <std::size_t N, class Derive, class Inside>
std::array<double, N> minimize_barrier(std::array<double, N> x, double barrier_terms, Derive&& derivatives,
                                       Inside&& inside) {
  constexpr double kGap = 1e-9, kGrowth = 20, kFullStep = 0.06, kCentered = 1e-12;
  constexpr int kSteps = 80, kHalvings = 60;
  for (double weight = 1;; weight *= kGrowth) {
    for (int step = 0; step < kSteps; ++step) {
      const Derivatives<N> at = derivatives(x, weight);
      const auto direction = solve_small(at.hessian, at.gradient);
      if (!direction) break;  // only beyond the precision of the numbers, at the end of the path
      double decrement = 0;   // squared Newton decrement
      for (std::size_t i = 0; i < N; ++i) decrement += at.gradient[i] * (*direction)[i];
      if (!(decrement > kCentered)) break;
      double length = decrement > kFullStep ? 1 / (1 + std::sqrt(decrement)) : 1;
      for (int halving = 0;; ++halving) {
        std::array<double, N> next = x;
        for (std::size_t i = 0; i < N; ++i) next[i] -= length * (*direction)[i];
        if (inside(next)) {
          x = next;
          break;
        }
        if (halving == kHalvings) return x;
        length /= 2;
      }
    }
    if (barrier_terms / weight < kGap) return x;
  }
}

}  // namespace pc

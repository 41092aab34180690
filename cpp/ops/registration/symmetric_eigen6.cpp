#include "ops/registration/symmetric_eigen6.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pc {

namespace {

using Matrix = std::array<std::array<double, 6>, 6>;

/// Makes a[p][q] zero; the columns of v collect the rotations.
void rotate(Matrix& a, Matrix& v, std::size_t p, std::size_t q) {
  const double off = a[p][q];
  if (off == 0) return;
  const double half = (a[q][q] - a[p][p]) / (2 * off);
  const double root = std::sqrt(half * half + 1);
  const double t = half < 0 ? -1 / (root - half) : 1 / (root + half);
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (std::size_t i = 0; i < 6; ++i) {
    const double ip = a[i][p], iq = a[i][q];
    a[i][p] = c * ip - s * iq;
    a[i][q] = s * ip + c * iq;
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const double pi = a[p][i], qi = a[q][i];
    a[p][i] = c * pi - s * qi;
    a[q][i] = s * pi + c * qi;
  }
  a[p][q] = a[q][p] = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const double ip = v[i][p], iq = v[i][q];
    v[i][p] = c * ip - s * iq;
    v[i][q] = s * ip + c * iq;
  }
}

}  // namespace

SymmetricEigen6 symmetric_eigen6(const std::array<double, 21>& lower) {
  constexpr int kMostSweeps = 30;  // 6 to 8 are needed
  Matrix a{}, v{};
  std::size_t at = 0;
  double largest = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    v[i][i] = 1;
    for (std::size_t j = 0; j <= i; ++j) {
      a[i][j] = a[j][i] = lower[at++];
      largest = std::max(largest, std::abs(a[i][j]));
    }
  }
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < 6; ++p)
      for (std::size_t q = p + 1; q < 6; ++q) off = std::max(off, std::abs(a[p][q]));
    if (off <= 1e-17 * largest) break;
    for (std::size_t p = 0; p < 6; ++p)
      for (std::size_t q = p + 1; q < 6; ++q) rotate(a, v, p, q);
  }
  std::array<std::size_t, 6> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i][i] < a[j][j]; });
  SymmetricEigen6 out{};
  for (std::size_t k = 0; k < 6; ++k) {
    out.value[k] = a[order[k]][order[k]];
    for (std::size_t i = 0; i < 6; ++i) out.vector[k][i] = v[i][order[k]];
  }
  return out;
}

}  // namespace pc

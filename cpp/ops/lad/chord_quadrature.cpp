#include "ops/lad/chord_quadrature.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

constexpr std::size_t kNodes = kChordMoments / 2;
static_assert(kNodes == 4, "nodes_of is called for 2, 3 and 4");
constexpr double kLeastSpread = 1e-10;  // of the square of the diagonal

/// Three-term recurrence of the monic orthogonal polynomials.
struct Recurrence {
  std::size_t count;
  std::array<double, kNodes> alpha, beta;
};

/// Binomial coefficients m over k.
constexpr auto kBinomial = [] {
  std::array<std::array<double, kChordMoments>, kChordMoments> out{};
  for (std::size_t m = 0; m < kChordMoments; ++m) {
    out[m][0] = 1;
    for (std::size_t k = 1; k <= m; ++k) out[m][k] = out[m - 1][k - 1] + out[m - 1][k];
  }
  return out;
}();

/// Moments about the mean, of weights that sum up to 1.
std::array<double, kChordMoments> central(const std::array<double, kChordMoments>& moment, double mean) {
  std::array<double, kChordMoments> out{}, power{}, scaled{};
  for (std::size_t m = 0; m < kChordMoments; ++m) {
    power[m] = m == 0 ? 1 : -mean * power[m - 1];
    scaled[m] = moment[m] / moment[0];
  }
  for (std::size_t m = 0; m < kChordMoments; ++m) {
    double sum = 0;
    for (std::size_t k = 0; k <= m; ++k)  // of u^(m - k) (-mean)^k
      sum += kBinomial[m][k] * scaled[m - k] * power[k];
    out[m] = sum;
  }
  return out;
}

Recurrence recurrence_of(const std::array<double, kChordMoments>& moment) {
  Recurrence r{1, {moment[1] / moment[0], 0, 0, 0}, {1, 0, 0, 0}};
  std::array<double, kChordMoments> before{}, now{}, next{};
  now = moment;
  for (std::size_t k = 1; k < kNodes; ++k) {
    for (std::size_t l = k; l < kChordMoments - k; ++l)
      next[l] = now[l + 1] - r.alpha[k - 1] * now[l] - (k == 1 ? 0 : r.beta[k - 1] * before[l]);
    r.beta[k] = next[k] / now[k - 1];
    if (!(r.beta[k] > kLeastSpread)) return r;
    r.alpha[k] = next[k + 1] / next[k] - now[k] / now[k - 1];
    r.count = k + 1;
    before = now;
    now = next;
  }
  return r;
}

using Square = std::array<std::array<double, kNodes>, kNodes>;

/// Turns the plane of axes p and q so that a[p][q] vanishes; `first` is the first row of the eigenvectors.
template <std::size_t n>
inline void rotate(Square& a, std::array<double, kNodes>& first, std::size_t p, std::size_t q) {
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (std::size_t k = 0; k < n; ++k) {
    const double kp = a[k][p], kq = a[k][q];
    a[k][p] = c * kp - s * kq;
    a[k][q] = s * kp + c * kq;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double pk = a[p][k], qk = a[q][k];
    a[p][k] = c * pk - s * qk;
    a[q][k] = s * pk + c * qk;
  }
  const double fp = first[p], fq = first[q];
  first[p] = c * fp - s * fq;
  first[q] = s * fp + c * fq;
}

/// Nodes and weights of the first n steps of a recurrence, shifted by the mean. The number is known to the compiler, so that
/// the matrix stays in registers.
template <std::size_t n>
ChordQuadrature nodes_of(const Recurrence& r, double mean) {
  Square a{};
  for (std::size_t k = 0; k < n; ++k) {
    a[k][k] = r.alpha[k];
    if (k > 0) a[k][k - 1] = a[k - 1][k] = std::sqrt(r.beta[k]);
  }
  std::array<double, kNodes> first{1, 0, 0, 0};
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        off = std::max(off, std::abs(a[p][q]));
        if (std::abs(a[p][q]) > 1e-18) rotate<n>(a, first, p, q);
      }
    }
    if (off <= 1e-18) break;
  }
  ChordQuadrature out{n, {}, {}};
  for (std::size_t k = 0; k < n; ++k) {
    const double chord = mean + a[k][k];
    std::size_t at = k;  // std::sort of so few makes GCC warn of places beyond them
    for (; at > 0 && out.chord[at - 1] > chord; --at) {
      out.chord[at] = out.chord[at - 1];
      out.weight[at] = out.weight[at - 1];
    }
    out.chord[at] = chord;
    out.weight[at] = first[k] * first[k];
  }
  return out;
}

}  // namespace

ChordQuadrature chord_quadrature(const std::array<double, kChordMoments>& moment) {
  const double mean = moment[1] / moment[0];
  const Recurrence r = recurrence_of(central(moment, mean));
  for (std::size_t n = r.count; n > 1; --n) {
    const ChordQuadrature found = n == 4   ? nodes_of<4>(r, mean)
                                  : n == 3 ? nodes_of<3>(r, mean)
                                           : nodes_of<2>(r, mean);
    if (found.chord[0] >= 0 && found.chord[n - 1] <= 1 + 1e-9) return found;
  }
  return {1, {mean, 0, 0, 0}, {1, 0, 0, 0}};
}

}  // namespace pc

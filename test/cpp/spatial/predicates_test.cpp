#include "spatial/predicates.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/expansion.h"
#include "core/random.h"

namespace pc {
namespace {

__extension__ using Wide = __int128;

int sign(Wide value) { return (value > 0) - (value < 0); }

template <std::size_t kSize>
Wide determinant(const std::array<std::array<Wide, kSize>, kSize>& m) {
  if constexpr (kSize == 1) {
    return m[0][0];
  } else {
    Wide sum = 0;
    for (std::size_t column = 0; column < kSize; ++column) {
      std::array<std::array<Wide, kSize - 1>, kSize - 1> minor{};
      for (std::size_t i = 1; i < kSize; ++i)
        for (std::size_t j = 0, to = 0; j < kSize; ++j)
          if (j != column) minor[i - 1][to++] = m[i][j];
      sum += (column % 2 == 0 ? 1 : -1) * m[0][column] * determinant(minor);
    }
    return sum;
  }
}

/// Whole coordinates below 2^20, whose determinants 128 bits hold, times a power of two plus an offset that the doubles
/// hold exactly.
struct Drawn {
  std::array<std::array<std::int64_t, 3>, 5> at{};
  std::array<Vec3d, 5> points{};
};

Drawn draw(std::uint64_t seed) {
  Drawn out;
  std::uint64_t counter = 0;
  const auto whole = [&](std::uint64_t end) {
    return static_cast<std::int64_t>(random_u64(seed, counter++) % end);
  };
  const std::uint64_t sizes[] = {2, 3, 5, 1000, 1 << 20};
  const std::uint64_t size = sizes[whole(5)];
  const double scales[] = {1, 0x1p-30, 0x1p40, 0x1p-120};
  const double scale = scales[whole(4)], offset = whole(2) == 0 ? 0 : 0x1p30 * scale;
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 3; ++k) out.at[i][k] = whole(size);
    // Near a plane or a sphere: one point is the sum or the mirror image of others.
    if (i == 3 && whole(3) == 0)
      for (std::size_t k = 0; k < 3; ++k)
        out.at[3][k] = (out.at[0][k] + out.at[1][k]) / 2 + (k == 2 ? whole(2) : 0);
    if (i == 4 && whole(3) == 0) out.at[4] = {out.at[0][0], out.at[1][1], out.at[2][2]};
    const auto value = [&](std::size_t k) { return static_cast<double>(out.at[i][k]) * scale + offset; };
    out.points[i] = {value(0), value(1), value(2)};
  }
  return out;
}

TEST(Predicates, HaveTheSignsOfWholeDeterminants) {
  std::array<int, 3> seen{};
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    const auto [at, p] = draw(seed);
    std::array<std::array<Wide, 3>, 3> rows{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) rows[i][k] = at[i][k] - at[3][k];
    const int volume = sign(determinant(rows));
    ASSERT_EQ(orient_3d(p[0], p[1], p[2], p[3]), volume) << seed;
    std::array<std::array<Wide, 4>, 4> lifted{};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        lifted[i][k] = at[i][k] - at[4][k];
        lifted[i][3] += lifted[i][k] * lifted[i][k];
      }
    }
    const int inside = sign(determinant(lifted));
    ASSERT_EQ(in_sphere(p[0], p[1], p[2], p[3], p[4]), inside) << seed;
    ++seen[static_cast<std::size_t>(inside + 1)];
    const auto flat = [&](std::size_t i) { return Vec2d{p[i].x, p[i].y}; };
    std::array<std::array<Wide, 3>, 3> circle{};
    for (std::size_t i = 0; i < 3; ++i) {
      circle[i] = {at[i][0] - at[3][0], at[i][1] - at[3][1], 0};
      circle[i][2] = circle[i][0] * circle[i][0] + circle[i][1] * circle[i][1];
    }
    ASSERT_EQ(in_circle(flat(0), flat(1), flat(2), flat(3)), sign(determinant(circle))) << seed;
    const std::array<std::array<Wide, 2>, 2> turn{
        {{at[0][0] - at[2][0], at[0][1] - at[2][1]}, {at[1][0] - at[2][0], at[1][1] - at[2][1]}}};
    ASSERT_EQ(orient_2d(flat(0), flat(1), flat(2)), sign(determinant(turn))) << seed;
  }
  for (const int count : seen) EXPECT_GT(count, 500);
}

/// Signs that rounded arithmetic and sums of two doubles both miss.
TEST(Predicates, DecideBetweenNeighbouringDoubles) {
  const double step = 0x1p-52;
  for (int i = -3; i <= 3; ++i) {
    const Vec2d a{0.5 + step, 0.5}, b{12, 12}, c{24, 24}, d{0.5 + step, 0.5 + (i + 1) * step};
    EXPECT_EQ(orient_2d(d, b, c), (i > 0) - (i < 0)) << i;
    EXPECT_EQ(orient_2d(a, b, c), -1);
    // A plane through three far points, and a point next to it.
    const Vec3d p{0.1, 0.1, 0.1}, q{12e10, 12e10, 7}, r{24e10, 24e10, 3}, s{0.1, 0.1 + i * 0x1p-56, 1e10};
    EXPECT_EQ(orient_3d(p, q, r, s), -((i > 0) - (i < 0)) * orient_3d(p, q, r, {0.1, 0.0, 1e10})) << i;
  }
  // Eight corners of a box with coordinates of 53 bits: the last one is exactly on the sphere of the others.
  const double x[] = {1.0 / 3, 2.0 / 7}, y[] = {1e-9 / 3, 0.7}, z[] = {-5.0 / 11, 1e3 / 13};
  const Vec3d a{x[0], y[0], z[0]}, b{x[1], y[0], z[0]}, c{x[0], y[1], z[0]}, d{x[0], y[0], z[1]};
  const Vec3d e{x[1], y[1], z[1]};
  const bool positive = orient_3d(a, b, c, d) > 0;
  const Vec3d &first = positive ? a : b, &second = positive ? b : a;
  EXPECT_EQ(in_sphere(first, second, c, d, e), 0);
  EXPECT_NE(in_perturbed_sphere(first, second, c, d, e), 0);
  EXPECT_EQ(in_sphere(first, second, c, d, {std::nextafter(x[1], 1), y[1], z[1]}),
            -in_sphere(first, second, c, d, {std::nextafter(x[1], 0), y[1], z[1]}));
}

TEST(Expansion, AddsAndMultipliesWithoutRounding) {
  const Expansion one(1.0), tiny(0x1p-80), big(0x1p80);
  EXPECT_EQ(((big + tiny) * (big - tiny) - big * big + tiny * tiny).sign(), 0);
  EXPECT_EQ(((big + tiny) * (big - tiny) - big * big).sign(), -1);
  Expansion sum;
  for (int i = 0; i < 100; ++i)
    sum = sum + Expansion(0.1) * Expansion(1e-17) * Expansion(0.3 + i);  // many terms
  for (int i = 99; i >= 0; --i) sum = sum - Expansion(0.3 + i) * Expansion(1e-17) * Expansion(0.1);
  EXPECT_EQ(sum.sign(), 0);
  EXPECT_EQ((sum + tiny * tiny).sign(), 1);
}

}  // namespace
}  // namespace pc

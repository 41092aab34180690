#include "ops/ground/up_axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/position_hash.h"

namespace pc {

namespace {

constexpr std::size_t kMostPoints = 200'000, kFewestPoints = 1000, kPoll = std::size_t{1} << 16;
constexpr double kLow = 0.005, kHigh = 0.995;
constexpr double kInCell = 32, kStep = 0.25;  // points; of the edge of a cell
constexpr double kLeastPart = 1e-3;           // of the longest extent

using Coordinates = std::array<double, 3>;

std::vector<Coordinates> sample(HitPoints points, OpContext& ctx) {
  const std::uint64_t every = std::max<std::uint64_t>(1, points.size() / kMostPoints);
  std::vector<Coordinates> out;
  const Span<const Vec3d> all = points.xyz();
  for (std::size_t i = 0; i < all.size; ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const Vec3d& p = all[i];
    if (is_finite(p) && position_hash(p) % every == 0) out.push_back({p.x, p.y, p.z});
  }
  return out;
}

/// What lies between two percentiles of every coordinate, from its lower corner and in parts of the longest extent, as squares of
/// extents may be no numbers; `size` becomes those. Nothing where an extent is none, or far shorter than the longest.
void trim(std::vector<Coordinates>& points, Coordinates& size) {
  Coordinates low{}, high{};
  std::vector<double> values(points.size());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t i = 0; i < points.size(); ++i) values[i] = points[i][axis];
    const auto at = [&](double part) {
      const auto rank = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
      std::nth_element(values.begin(), values.begin() + rank, values.end());
      return values[static_cast<std::size_t>(rank)];
    };
    low[axis] = at(kLow);
    high[axis] = at(kHigh);
    size[axis] = high[axis] - low[axis];
  }
  std::erase_if(points, [&](const Coordinates& p) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!(p[axis] >= low[axis] && p[axis] <= high[axis])) return true;
    return false;
  });
  const double longest = *std::max_element(size.begin(), size.end());
  const double shortest = *std::min_element(size.begin(), size.end());
  if (!std::isfinite(longest) || !(shortest > kLeastPart * longest)) return points.clear();
  for (Coordinates& p : points)
    for (std::size_t axis = 0; axis < 3; ++axis) p[axis] = (p[axis] - low[axis]) / longest;
  for (double& extent : size) extent /= longest;
}

double evenness(const std::vector<Coordinates>& points, const Coordinates& size, std::size_t axis,
                double sign) {
  const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double cell = std::sqrt(size[u] * size[v] * kInCell / static_cast<double>(points.size()));
  const auto index = [&](double value) { return static_cast<std::size_t>(value / cell); };
  const std::size_t columns = index(size[u]) + 1, rows = index(size[v]) + 1;
  constexpr double kEmpty = std::numeric_limits<double>::infinity();
  std::vector<double> lowest(columns * rows, kEmpty);
  for (const Coordinates& p : points) {
    double& at = lowest[index(p[v]) * columns + index(p[u])];
    at = std::min(at, sign * p[axis]);
  }
  std::size_t pairs = 0, even = 0;
  const auto compare = [&](double a, double b) {
    ++pairs;
    if (a == kEmpty || b == kEmpty) return;
    if (std::abs(a - b) < kStep * cell) ++even;
  };
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const double at = lowest[row * columns + column];
      if (column + 1 < columns) compare(at, lowest[row * columns + column + 1]);
      if (row + 1 < rows) compare(at, lowest[(row + 1) * columns + column]);
    }
  }
  return pairs == 0 ? 0 : static_cast<double>(even) / static_cast<double>(pairs);
}

}  // namespace

UpAxis up_axis(HitPoints points, OpContext& ctx) {
  UpAxis out{};
  out.even.fill(std::nan(""));
  std::vector<Coordinates> chosen = sample(points, ctx);
  if (chosen.size() < kFewestPoints) return out;
  Coordinates size{};
  trim(chosen, size);
  if (chosen.size() < kFewestPoints) return out;
  for (std::size_t k = 0; k < 6; ++k) {
    ctx.checkpoint();
    out.even[k] = evenness(chosen, size, k % 3, k < 3 ? 1 : -1);
  }
  return out;
}

}  // namespace pc

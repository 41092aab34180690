#include "ops/wood/wood_scatter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/linear_solve.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/position_hash.h"
#include "core/symmetric_eigen.h"
#include "ops/wood/wood_class.h"
#include "spatial/kd_tree.h"

namespace pc {

namespace {

constexpr std::size_t kSamples = 2000, kFewestNeighbors = 20, kMostNeighbors = 400;
constexpr std::array<double, 4> kRadiiM{0.04, 0.06, 0.10, 0.15};
constexpr double kLeastWidth = 0.3;  // second largest standard deviation over the radius
constexpr double kQuarter = 0.25;
constexpr std::size_t kTerms = 6;
constexpr double kNone = std::numeric_limits<double>::infinity();

/// A neighbour relative to the place in the middle.
struct Neighbor {
  Vec3d at;
  double squared;
  std::uint64_t hash;
};

/// Standard deviation of points beside a quadric through them; kNone where they are no piece of a surface.
double residual(std::vector<Neighbor>& around, double radius) {
  const std::size_t within = static_cast<std::size_t>(
      std::partition(around.begin(), around.end(),
                     [&](const Neighbor& n) { return n.squared <= radius * radius; }) -
      around.begin());
  if (within < kFewestNeighbors) return kNone;
  const std::size_t count = std::min(within, kMostNeighbors);
  if (within > count) {
    const auto before = [](const Neighbor& a, const Neighbor& b) {
      return std::pair(a.hash, a.squared) < std::pair(b.hash, b.squared);
    };
    std::nth_element(around.begin(), around.begin() + static_cast<std::ptrdiff_t>(count),
                     around.begin() + static_cast<std::ptrdiff_t>(within), before);
  }
  const auto n = static_cast<double>(count);
  Vec3d mean{};
  for (std::size_t i = 0; i < count; ++i) mean = mean + around[i].at * (1 / n);
  Symmetric3 spread{};
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d d = around[i].at - mean;
    spread.add_square(d);
  }
  const SymmetricEigen3 axes = symmetric_eigen(spread);
  if (!(std::sqrt(axes.value[1] / n) >= kLeastWidth * radius)) return kNone;
  std::array<double, kTerms * kTerms> normal{};
  std::array<double, kTerms> right{};
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d d = (around[i].at - mean) * (1 / radius);
    const double u = dot(d, axes.vector[2]), v = dot(d, axes.vector[1]), w = dot(d, axes.vector[0]);
    const std::array<double, kTerms> row{1, u, v, u * u, u * v, v * v};
    for (std::size_t a = 0; a < kTerms; ++a) {
      right[a] += row[a] * w;
      for (std::size_t b = 0; b <= a; ++b) normal[a * kTerms + b] += row[a] * row[b];
    }
    squares += w * w;
  }
  const auto x =
      solve_positive_definite({{normal.data(), normal.size()}, kTerms, kTerms}, {right.data(), right.size()});
  if (!x) return kNone;
  for (std::size_t a = 0; a < kTerms; ++a) squares -= (*x)[a] * right[a];
  return radius * std::sqrt(std::max(squares, 0.0) / static_cast<double>(count - kTerms));
}

}  // namespace

WoodScatter wood_scatter(Span<const Vec3d> positions, Span<const std::uint8_t> wood_class, OpContext& ctx) {
  require(positions.size == wood_class.size, "wood_class needs one entry per point");
  ctx.begin_phase("Measuring the scatter of the wood", 0);
  BulkVector<Vec3d> wood;
  for (std::size_t i = 0; i < positions.size; ++i) {
    if (i % (std::size_t{1} << 16) == 0) ctx.checkpoint();
    if (wood_class[i] == kWood && is_finite(positions[i])) wood.push_back(positions[i]);
  }
  const std::uint64_t every = wood.size() / kSamples + 1;
  std::vector<Vec3d> samples;
  for (const Vec3d& p : wood)
    if (position_hash(p) % every == 0) samples.push_back(p);
  const KdTree tree(wood.view(), ctx);
  std::vector<double> found(samples.size(), kNone);
  parallel_for(ctx, samples.size(), 16, [&](std::size_t begin, std::size_t end) {
    std::vector<Neighbor> around;
    for (std::size_t i = begin; i < end; ++i) {
      around.clear();
      const double reach = kRadiiM.back();
      tree.view().for_each_within(
          samples[i], reach * reach, [&](std::uint64_t row, std::uint64_t, double squared) {
            around.push_back({wood[row] - samples[i], squared, position_hash(wood[row])});
          });
      for (const double radius : kRadiiM) found[i] = std::min(found[i], residual(around, radius));
    }
  });
  std::erase(found, kNone);
  WoodScatter out{found.size(), std::numeric_limits<double>::quiet_NaN()};
  if (found.size() < kFewestScatterPlaces) return out;
  const auto quarter =
      found.begin() + static_cast<std::ptrdiff_t>(kQuarter * static_cast<double>(found.size()));
  std::nth_element(found.begin(), quarter, found.end());
  out.scatter_m = *quarter;
  return out;
}

}  // namespace pc

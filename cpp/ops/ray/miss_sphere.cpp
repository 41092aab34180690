#include "ops/ray/miss_sphere.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/linear_solve.h"
#include "core/position_hash.h"
#include "ops/cloud/select_hits.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kWanted = 100'000;
constexpr std::size_t kFewest = 20;

struct Distances {
  double mean, spread;
};

Distances distances(const std::vector<Vec3d>& places, const Vec3d& from) {
  double sum = 0, squares = 0;
  for (const Vec3d& p : places) sum += std::sqrt(squared_distance(p, from));
  const double mean = sum / static_cast<double>(places.size());
  for (const Vec3d& p : places) {
    const double off = std::sqrt(squared_distance(p, from)) - mean;
    squares += off * off;
  }
  return {mean, std::sqrt(squares / static_cast<double>(places.size()))};
}

}  // namespace

MissSphere miss_sphere(Span<const Vec3d> positions, const AnyColumn& is_miss, const Vec3d& origin,
                       OpContext& ctx) {
  require(is_finite(origin), "the origin must be finite");
  const HitMask mask = hit_mask(positions.size, &is_miss, {}, ctx);
  const double share = kWanted / static_cast<double>(mask.miss_count);
  const auto most = share < 1 ? static_cast<std::uint64_t>(share * 0x1p64) : ~std::uint64_t{0};
  std::vector<Vec3d> places;
  for (std::size_t i = 0; i < positions.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (mask.skip[i] != 0 && is_finite(positions[i]) && position_hash(positions[i]) <= most)
      places.push_back(positions[i]);
  }
  MissSphere out;
  out.count = places.size();
  out.center = origin;
  if (places.size() < kFewest) return out;
  const Distances said = distances(places, origin);
  out.radius_m = said.mean;
  out.spread_m = out.spread_from_origin_m = said.spread;
  if (!(said.mean > 0)) return out;
  // Of q = (p - o) / mean distance, about its mean: the constant k drops out.
  const double down = 1 / said.mean, count = static_cast<double>(places.size());
  Vec3d middle{0, 0, 0};
  double middle_square = 0;
  for (const Vec3d& p : places) {
    const Vec3d q = (p - origin) * down;
    middle = middle + q * (1 / count);
    middle_square += dot(q, q) / count;
  }
  double normal[9] = {}, right[3] = {};
  for (const Vec3d& p : places) {
    const Vec3d q = (p - origin) * down, d = q - middle;
    const double value[3] = {d.x, d.y, d.z}, square = dot(q, q) - middle_square;
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) normal[3 * r + c] += 2 * value[r] * value[c];
      right[r] += value[r] * square;
    }
  }
  const LeastSquares solved = solve_least_squares({{normal, 9}, 3, 3}, {right, 3});
  out.center = origin + Vec3d{solved.x[0], solved.x[1], solved.x[2]} * said.mean;
  const Distances fitted = distances(places, out.center);
  out.radius_m = fitted.mean;
  out.spread_m = fitted.spread;
  return out;
}

}  // namespace pc

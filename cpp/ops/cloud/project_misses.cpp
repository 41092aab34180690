#include "ops/cloud/project_misses.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/cloud/select_hits.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 15;

/// |p - origin|; 0 if it is not finite.
double distance_from(const Vec3d& origin, const Vec3d& p) {
  const Vec3d d = p - origin;
  double length = std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  if (!std::isfinite(length)) length = std::hypot(d.x, d.y, d.z);  // slower, but does not overflow
  return std::isfinite(length) ? length : 0.0;
}

/// A skip mask that keeps only the misses that are not deleted.
Column<std::uint8_t> not_a_miss(const HitMask& mask, OpContext& ctx) {
  Column<std::uint8_t> skip(mask.skip.size());
  parallel_for(ctx, skip.size(), std::size_t{1} << 18,
               [&, from = mask.skip.view(), to = skip.view()](std::size_t begin, std::size_t end) {
                 for (std::size_t i = begin; i < end; ++i) to[i] = from[i] == kSkipMiss ? 0 : 1;
               });
  return skip;
}

}  // namespace

double miss_shell_radius(HitPoints hits, const Vec3d& origin, OpContext& ctx) {
  require(is_finite(origin), "the scan origin must be finite");
  ctx.begin_phase("Measuring the farthest hit", hits.size());
  std::vector<double> farthest(static_cast<std::size_t>(ctx.threads()), 0.0);
  parallel_for_worker(ctx, hits.size(), kGrain,
                      [&, xyz = hits.xyz()](std::size_t begin, std::size_t end, int worker) {
                        double local = 0.0;
                        for (std::size_t i = begin; i < end; ++i)
                          local = std::max(local, distance_from(origin, xyz[i]));
                        double& total = farthest[static_cast<std::size_t>(worker)];
                        total = std::max(total, local);
                      });
  const double radius = kMissShellFactor * *std::max_element(farthest.begin(), farthest.end());
  return radius > 0.0 && std::isfinite(radius) ? radius : 1.0;
}

ProjectMissesResult project_misses(Span<const Vec3d> misses, const Vec3d& origin, double radius_m,
                                   OpContext& ctx) {
  require(is_finite(origin), "the scan origin must be finite");
  require(std::isfinite(radius_m) && radius_m > 0.0, "the radius for misses must be finite and positive");
  ctx.begin_phase("Placing misses", 2 * misses.size);
  const auto keeps = [&](std::size_t i) { return distance_from(origin, misses[i]) > kMissMinDistance_m; };

  std::vector<std::size_t> starts((misses.size + kGrain - 1) / kGrain + 1, 0);
  parallel_for(ctx, misses.size, kGrain, [&](std::size_t begin, std::size_t end) {
    std::size_t kept = 0;
    for (std::size_t i = begin; i < end; ++i) kept += keeps(i) ? 1 : 0;
    starts[begin / kGrain + 1] = kept;
  });
  for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];

  ProjectMissesResult result{Column<Vec3d>(starts.back()), radius_m, misses.size - starts.back()};
  parallel_for(
      ctx, misses.size, kGrain, [&, out = result.positions.view()](std::size_t begin, std::size_t end) {
        std::size_t at = starts[begin / kGrain];
        for (std::size_t i = begin; i < end; ++i) {
          if (!keeps(i)) continue;
          out[at++] = origin + (misses[i] - origin) * (1.0 / distance_from(origin, misses[i])) * radius_m;
        }
      });
  return result;
}

Column<Vec3d> miss_overlay(Span<const Vec3d> positions, const AnyColumn* is_miss,
                           Span<const std::uint8_t> deleted, Span<const Vec3d> recovered,
                           const std::optional<Vec3d>& origin, OpContext& ctx) {
  const HitMask mask = hit_mask(positions.size, is_miss, deleted, ctx);
  const HitSelection misses = select_hits(positions, not_a_miss(mask, ctx).view(), ctx);
  const Span<const Vec3d> xyz = misses.points().xyz();
  Column<Vec3d> all(xyz.size + recovered.size);
  const Span<Vec3d> to = all.view();
  const auto copy = [&](Span<const Vec3d> from, std::size_t at) {
    parallel_for(ctx, from.size, kGrain, [&](std::size_t begin, std::size_t end) {
      std::copy(from.data + begin, from.data + end, to.data + at + begin);
    });
  };
  copy(xyz, 0);
  copy(recovered, xyz.size);
  if (!origin) return all;
  const HitSelection hits = select_hits(positions, mask.skip.view(), ctx);
  const double radius_m = miss_shell_radius(hits.points(), *origin, ctx);
  return project_misses(all.view(), *origin, radius_m, ctx).positions;
}

}  // namespace pc

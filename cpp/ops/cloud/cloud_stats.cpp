#include "ops/cloud/cloud_stats.h"

#include <array>
#include <vector>

#include "core/parallel.h"
#include "ops/cloud/order_select.h"

namespace pc {

namespace {

struct Partial {
  Box3d bounds;
  std::uint64_t skipped = 0, nonfinite = 0;
};

}  // namespace

CloudStats cloud_stats(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx) {
  require(skip.empty() || skip.size == positions.size, "the skip mask must have one entry per point");
  ctx.begin_phase("Measuring extents", 2 * positions.size);
  std::vector<Partial> partials(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, positions.size, order_select::kGrain,
                      [&](std::size_t begin, std::size_t end, int worker) {
                        Partial local;
                        for (std::size_t i = begin; i < end; ++i) {
                          if (!skip.empty() && skip[i] != 0) {
                            ++local.skipped;
                          } else if (!is_finite(positions[i])) {
                            ++local.nonfinite;
                          } else {
                            local.bounds.add(positions[i]);
                          }
                        }
                        Partial& total = partials[static_cast<std::size_t>(worker)];
                        total.bounds.add(local.bounds);
                        total.skipped += local.skipped;
                        total.nonfinite += local.nonfinite;
                      });

  CloudStats stats{};
  stats.point_count = positions.size;
  for (const Partial& partial : partials) {
    stats.bounds.add(partial.bounds);
    stats.skipped_count += partial.skipped;
    stats.nonfinite_count += partial.nonfinite;
  }
  stats.finite_count = stats.point_count - stats.skipped_count - stats.nonfinite_count;
  if (stats.finite_count == 0) return stats;

  const Box3d& box = stats.bounds;
  const std::vector<LaneRange> ranges{{box.min.x, box.max.x}, {box.min.y, box.max.y}, {box.min.z, box.max.z}};
  std::vector<PercentileQuery> queries{{0, 0.01, 0}, {1, 0.01, 0}, {2, 0.01, 0}, {0, 0.99, 0},
                                       {1, 0.99, 0}, {2, 0.99, 0}, {2, 0.005, 0}};
  select_percentiles<3>(ctx, positions.size, stats.finite_count, ranges, queries,
                        [&](std::size_t i, std::array<double, 3>& out) {
                          if (!skip.empty() && skip[i] != 0) return false;
                          const Vec3d& p = positions[i];
                          out = {p.x, p.y, p.z};
                          return is_finite(p);
                        });
  stats.robust_bounds.add(Vec3d{queries[0].value, queries[1].value, queries[2].value});
  stats.robust_bounds.add(Vec3d{queries[3].value, queries[4].value, queries[5].value});
  stats.ground_z_m = queries[6].value;
  return stats;
}

}  // namespace pc

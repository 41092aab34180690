#include "ops/ray/synthetic_scan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/ray/axis_tracer.h"
#include "ops/ray/pulse_tracer.h"
#include "ops/ray/scan_rows.h"

namespace pc {

namespace {

using scan_plan::Plan;
using scan_plan::RecordBlock;

constexpr std::uint32_t kMostRays = 100'000;
/// Rays of a block of pulses, and the most pulses and blocks.
constexpr std::uint64_t kBlockRays = std::uint64_t{1} << 18, kBlockPulses = 4096, kMostBlocks = 32768;

void require_that(bool ok, const std::string& what) {
  if (!ok) throw Error(ErrorCode::kInvalidArgument, what);
}

void check(const SyntheticScanParams& p, const PoseStreamView& poses) {
  const auto at_least_0 = [](double value) { return value >= 0 && std::isfinite(value); };
  require_that(p.rays_per_pulse >= 1 && p.rays_per_pulse <= kMostRays,
               "rays_per_pulse is " + std::to_string(p.rays_per_pulse) + ": it must be from 1 to 100000");
  require_that(p.max_returns >= 1 && p.max_returns <= kMissIndex,
               "max_returns is " + std::to_string(p.max_returns) + ": it must be from 1 to 99");
  require_that(at_least_0(p.exit_diameter_m), "exit_diameter_m must be at least 0, in metres");
  require_that(at_least_0(p.divergence_rad) && p.divergence_rad < 0.5,
               "beam_divergence_mrad must be from 0 to 500");
  require_that(at_least_0(p.pulse_distance_m), "pulse_distance_threshold must be at least 0, in metres");
  require_that(p.detection_energy >= 0 && p.detection_energy <= 0.5,
               "detection_threshold must be from 0 to 0.5");
  require_that(at_least_0(p.range_noise_m), "range_noise_m must be at least 0, in metres");
  require_that(at_least_0(p.angle_noise_rad) && p.angle_noise_rad <= 0.1,
               "angle_noise_mrad must be from 0 to 100");
  require_that(is_finite(p.origin), "origin must be finite");
  require_that(p.pattern.pulse_count <= 0xffffffffU, "the scan has " + std::to_string(p.pattern.pulse_count) +
                                                         " pulses, but the limit is 4294967295");
  require_that(p.pattern.row_count >= 1, "a scan without rows");
  require_that(!p.is_moving || !poses.poses.empty(), "a moving scan needs a trajectory with poses");
  if (p.box) {
    const Vec3d& size = p.box->size;
    require_that(is_finite(p.box->center) && is_finite(size) && size.x > 0 && size.y > 0 && size.z > 0 &&
                     std::isfinite(p.box->rotation_rad),
                 "grid.size must be positive and finite");
  }
}

/// Pulses of a block: whole groups of those that are traced together.
std::uint64_t block_pulses(const Plan& plan) {
  const std::uint64_t pulses = plan.params.pattern.pulse_count;
  const std::uint64_t block =
      std::max(std::clamp<std::uint64_t>(kBlockRays / plan.traced_rays, 16, kBlockPulses),
               (pulses + kMostBlocks - 1) / kMostBlocks);
  if (plan.traced_rays > 1) return block;
  const std::uint64_t together = scan_plan::pulses_together(plan);
  return (block + together - 1) / together * together;
}

template <class Tracer>
SyntheticScan traced(const Plan& plan, OpContext& ctx) {
  const std::uint64_t pulses = plan.params.pattern.pulse_count, block = block_pulses(plan);
  struct Worker {
    Tracer tracer;
    RecordBlock rows;
  };
  std::vector<Worker> workers;
  for (int i = 0; i < ctx.threads(); ++i) workers.push_back({Tracer(plan), {}});
  scan_plan::ScanRows rows(plan, static_cast<std::size_t>((pulses + block - 1) / block));
  ctx.begin_phase("Ray-tracing scene", pulses);
  parallel_for_worker(ctx, pulses, block, [&](std::size_t begin, std::size_t end, int worker) {
    Worker& own = workers[static_cast<std::size_t>(worker)];
    own.rows.reserve(plan, end - begin);
    own.tracer.run(begin, end, own.rows, ctx);
    rows.add(begin / block, own.rows);
  });
  workers.clear();
  ctx.begin_phase("Extracting hits", 0);
  return rows.take(ctx);
}

}  // namespace

SyntheticScan synthetic_scan(const ScanScene& scene, const PoseStreamView& poses,
                             const SyntheticScanParams& params, OpContext& ctx) {
  check(params, poses);
  std::vector<std::string> warnings;
  SyntheticScan scan;
  {
    SceneDevice device(scene.host(), ctx, warnings);
    const Plan plan(scene, poses, params, ctx.threads(), device.usable() ? &device : nullptr);
    scan = plan.traced_rays == 1 ? traced<scan_plan::AxisTracer>(plan, ctx)
                                 : traced<scan_plan::PulseTracer>(plan, ctx);
  }
  scan.warnings = std::move(warnings);
  return scan;
}

}  // namespace pc

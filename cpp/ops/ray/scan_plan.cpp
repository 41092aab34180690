#include "ops/ray/scan_plan.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace pc::scan_plan {

namespace {

using scan_pattern::Kind;

constexpr std::uint32_t kMostRowTurns = 1 << 20;
/// Bytes of a ray in flight.
constexpr std::uint64_t kRayBytes = 384;
/// Rays of a tile: those of a packet. Pulses of a row of tiles are traced together.
constexpr std::uint32_t kTilePulses = 32;
constexpr std::uint64_t kMostTogether = 16'384;

Turn turned(double angle) { return {std::sin(angle), std::cos(angle)}; }

}  // namespace

Plan::Plan(const ScanScene& from, const PoseStreamView& pose_stream, const SyntheticScanParams& p,
           int threads, SceneDevice* on)
    : scene(from),
      poses(pose_stream),
      params(p),
      device(on),
      beam{p.divergence_rad, p.exit_diameter_m / 2, p.rays_per_pulse,
           std::max(p.detection_energy, beam_footprint::kTail)},
      has_extras(p.is_multi_return || from.has_colors()),
      pulse_seed_(random_u64(p.seed, 2 * p.scan_index)),
      range_seed_(random_u64(p.seed, 2 * p.scan_index + 1)) {
  const ScanPattern& pattern = p.pattern;
  if (pattern.kind != Kind::kRisley && pattern.row_count <= kMostRowTurns) {
    for (std::uint32_t row = 0; row < pattern.row_count; ++row) {
      zenith_.push_back(turned(scan_pattern::row_theta(pattern, row)));
      drift_.push_back(turned(static_cast<double>(row) / pattern.row_count * pattern.phi_step_rad));
    }
  }
  if (!beam.ideal()) traced_rays = p.rays_per_pulse;
  for (std::uint32_t k = 0; k < traced_rays; ++k) turns.push_back(beam_footprint::RayTurn::of(k));
  rules = {p.pulse_distance_m, p.detection_energy, traced_rays, p.is_multi_return ? p.max_returns : 1,
           p.selection};
  if (p.box) clip.emplace(p.box->center, p.box->size, p.box->rotation_rad);
  const std::uint64_t rays = p.scratch_bytes / (kRayBytes * static_cast<std::uint64_t>(threads));
  batch = std::clamp(rays, kLeastBatch, device != nullptr ? kDeviceBatch : kBatch);
  set_tile(std::min(rays, kMostTogether));
}

/// The tile that is nearest to a square, if up to `most` rays may be in flight.
void Plan::set_tile(std::uint64_t most) {
  const ScanPattern& pattern = params.pattern;
  if (zenith_.empty() || traced_rays != 1) return;
  const double across = std::abs(pattern.phi_step_rad);
  double along = 0;
  for (std::uint32_t row = 1; row < pattern.row_count; ++row)
    along += std::abs(scan_pattern::row_theta(pattern, row) - scan_pattern::row_theta(pattern, row - 1));
  if (pattern.row_count > 1) along /= pattern.row_count - 1;
  double least = HUGE_VAL;
  for (std::uint32_t columns = 1; columns <= kTilePulses; columns *= 2) {
    const std::uint32_t rows = kTilePulses / columns;
    if (std::uint64_t{columns} * pattern.row_count > most || rows > pattern.row_count) continue;
    const double side = std::max(rows * along, columns * across);
    if (side >= least) continue;
    least = side;
    tile = {rows, columns};
  }
  // More columns at once leave the packets as they are: rays are fired column by column.
  const std::uint64_t pulses = std::uint64_t{tile.columns} * pattern.row_count;
  if (device != nullptr && tile.columns > 1 && pulses < batch)
    tile.columns *= static_cast<std::uint32_t>(batch / pulses);
}

Turn Plan::turn_of_column(std::uint64_t column) const {
  return turned(scan_pattern::pulse_phi(params.pattern, 0, column));
}

PulseBeam Plan::beam_of(std::uint64_t pulse) const {
  if (has_rows())
    return beam_of(pulse, static_cast<std::uint32_t>(params.pattern.row_of(pulse)),
                   turn_of_column(params.pattern.column_of(pulse)));
  const Vec3d d = scan_pattern::pulse_direction(params.pattern, pulse);
  if (!(dot(d, d) > 0.5))
    throw Error(ErrorCode::kInvalidArgument,
                "the prisms reflect the light totally; use smaller wedge angles");
  return placed(pulse, d);
}

PulseBeam Plan::placed(std::uint64_t pulse, const Vec3d& d) const {
  if (!params.is_moving) return {params.origin, params.tilt.apply(d)};
  const Pose pose = poses.at(time_of(pulse));
  return {poses.origin(pose), pose.turn.rotation().apply(poses.boresight.apply(d))};
}

Vec3d Plan::recorded(std::uint64_t pulse, const Vec3d& direction) const {
  if (!(params.angle_noise_rad > 0)) return direction;
  return beam_footprint::jittered(direction, params.angle_noise_rad, pulse_seed_, pulse);
}

double Plan::recorded(std::uint64_t pulse, std::size_t i, double range_m) const {
  if (!(params.range_noise_m > 0)) return range_m;
  const std::uint64_t counter = 2 * (128 * pulse + i);
  return std::max(range_m + params.range_noise_m * beam_footprint::NormalPair::of(range_seed_, counter).a,
                  0.0);
}

}  // namespace pc::scan_plan

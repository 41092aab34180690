#include "ops/ray/synthetic_scan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/ray/beam_footprint.h"
#include "ops/ray/box_clip.h"

namespace pc {

namespace {

using beam_footprint::Across;
using beam_footprint::Beam;
using beam_footprint::PulseTurn;
using beam_footprint::RayTurn;

constexpr std::uint32_t kMostRays = 100'000, kMostRowTurns = 1 << 20;
/// Rays that are traced together, and the bytes of one of them.
constexpr std::uint64_t kBatch = 4096, kLeastBatch = 16, kRayBytes = 384;
/// Rays of a block of pulses, and the most pulses and blocks.
constexpr std::uint64_t kBlockRays = std::uint64_t{1} << 18, kBlockPulses = 4096, kMostBlocks = 32768;
/// Nearer surfaces are what the scanner stands on, metres.
constexpr double kNearest = 1e-6;
/// Hits whose triangles are loaded ahead.
constexpr std::size_t kAhead = 24;

/// A row of the result, and what only some scans have of it.
struct Record {
  Vec3d position;
  std::uint32_t pulse;
  float intensity, distance;
  std::uint8_t organ, index, count, is_miss;
};
struct RecordExtra {
  float deviation;
  std::uint32_t ray_count;
  Rgb16 color;
};

/// The rows of a block of pulses.
struct RecordBlock {
  BulkVector<Record> records;
  BulkVector<RecordExtra> extras;  ///< one per record, or none
};

/// Zenith of the rows of a pattern.
struct RowTurn {
  double sin, cos;
};

/// Where a pulse goes.
struct PulseBeam {
  Vec3d origin, direction;
};

/// What all threads share.
struct Plan {
  const ScanScene& scene;
  const PoseStreamView& poses;
  const SyntheticScanParams& params;
  Beam beam;
  ReturnRules rules;
  std::uint32_t traced_rays;  ///< per pulse; 1 if all are the same
  bool has_extras;
  std::vector<RayTurn> turns;
  std::vector<RowTurn> rows;  ///< empty for patterns without rows, or with too many
  std::optional<BoxClip> clip;
  std::uint64_t pulse_seed, range_seed;
  std::uint64_t batch;

  double time_of(std::uint64_t pulse) const {
    return params.first_time_s + static_cast<double>(pulse) * params.pulse_interval_s;
  }

  /// Unit, in the frame of the scanner.
  Vec3d direction_of(std::uint64_t pulse) const {
    if (rows.empty()) return scan_pattern::pulse_direction(params.pattern, pulse);
    const std::uint64_t row = params.pattern.row_of(pulse);
    const double phi = scan_pattern::pulse_phi(params.pattern, row, params.pattern.column_of(pulse));
    const RowTurn& theta = rows[row];
    return {theta.sin * std::sin(phi), theta.sin * std::cos(phi), theta.cos};
  }

  PulseBeam beam_of(std::uint64_t pulse) const {
    const Vec3d d = direction_of(pulse);
    if (!(dot(d, d) > 0.5))
      throw Error(ErrorCode::kInvalidArgument,
                  "the prisms reflect the light totally; use smaller wedge angles");
    if (!params.is_moving) return {params.origin, params.tilt.apply(d)};
    const Pose pose = poses.at(time_of(pulse));
    return {poses.origin(pose), pose.turn.rotation().apply(poses.boresight.apply(d))};
  }
};

Plan plan_of(const ScanScene& scene, const PoseStreamView& poses, const SyntheticScanParams& p, int threads) {
  const double tail = std::max(p.detection_energy, beam_footprint::kTail);
  Plan plan{scene, poses, p,     {p.divergence_rad, p.exit_diameter_m / 2, p.rays_per_pulse, tail},
            {},    1,     false, {},
            {},    {},    0,     0,
            0};
  plan.has_extras = p.is_multi_return || scene.has_colors();
  if (p.pattern.kind != scan_pattern::Kind::kRisley && p.pattern.row_count <= kMostRowTurns) {
    for (std::uint32_t row = 0; row < p.pattern.row_count; ++row) {
      const double theta = scan_pattern::row_theta(p.pattern, row);
      plan.rows.push_back({std::sin(theta), std::cos(theta)});
    }
  }
  if (!plan.beam.ideal()) plan.traced_rays = p.rays_per_pulse;
  for (std::uint32_t k = 0; k < plan.traced_rays; ++k) plan.turns.push_back(RayTurn::of(k));
  plan.rules = {p.pulse_distance_m, p.detection_energy, plan.traced_rays,
                p.is_multi_return ? p.max_returns : 1, p.selection};
  if (p.box) plan.clip.emplace(p.box->center, p.box->size, p.box->rotation_rad);
  plan.pulse_seed = random_u64(p.seed, 2 * p.scan_index);
  plan.range_seed = random_u64(p.seed, 2 * p.scan_index + 1);
  const std::uint64_t rays = p.scratch_bytes / (kRayBytes * static_cast<std::uint64_t>(threads));
  plan.batch = std::clamp(rays, kLeastBatch, kBatch);
  return plan;
}

/// Makes the records of pulses, one after another. One per thread.
class PulseTracer {
 public:
  explicit PulseTracer(const Plan& plan) : plan_(plan) {}

  void run(std::uint64_t begin, std::uint64_t end, RecordBlock& block, const OpContext& ctx) {
    block_ = &block;
    block.records.reserve(static_cast<std::size_t>(end - begin));
    if (plan_.has_extras) block.extras.reserve(static_cast<std::size_t>(end - begin));
    open_.clear();
    rays_.clear();
    owner_.clear();
    for (std::uint64_t pulse = begin; pulse < end; ++pulse) fire(pulse, ctx);
    flush(ctx);
    while (!open_.empty()) finish();
  }

 private:
  /// A pulse whose rays are in flight.
  struct Open {
    std::uint64_t pulse;
    PulseBeam beam;
  };

  void fire(std::uint64_t pulse, const OpContext& ctx) {
    const PulseBeam beam = plan_.beam_of(pulse);
    if (plan_.clip) {
      const RayPart part = plan_.clip->part(beam.origin, beam.direction, kNearest, kScanReach);
      if (!(part.first <= part.last)) return;
    }
    open_.push_back({pulse, beam});
    if (plan_.traced_rays == 1) return add(beam.origin, beam.direction, ctx);
    const Across across(beam.direction);
    const PulseTurn turn = PulseTurn::of(plan_.pulse_seed, pulse);
    for (std::uint32_t k = 0; k < plan_.traced_rays; ++k) {
      const auto ray = beam_footprint::beam_ray(plan_.beam, beam.direction, across, k, plan_.turns[k], turn);
      add(beam.origin + ray.start, ray.direction, ctx);
    }
  }

  void add(const Vec3d& origin, const Vec3d& direction, const OpContext& ctx) {
    RayPart part{kNearest, kScanReach};
    if (plan_.clip) part = plan_.clip->part(origin, direction, kNearest, kScanReach);
    if (!(part.first <= part.last)) return;  // an outer ray that misses the box
    rays_.push_back({origin, direction, part.first, part.last});
    owner_.push_back(open_.back().pulse);
    if (rays_.size() >= plan_.batch) flush(ctx);
  }

  /// Traces the rays in flight. The newest pulse may get more of them.
  void flush(const OpContext& ctx) {
    ctx.checkpoint();
    plan_.scene.first_hits(rays_, hits_, scratch_, ctx);
    for (std::size_t i = 0; i < rays_.size(); ++i) {
      if (i + kAhead < rays_.size()) plan_.scene.prefetch_look(hits_[i + kAhead]);
      if (i + kAhead / 2 < rays_.size()) plan_.scene.prefetch_corners(hits_[i + kAhead / 2]);
      while (open_[done_].pulse != owner_[i]) finish();
      const SceneHit& hit = hits_[i];
      if (hit.triangle == bvh::kNone) continue;
      const SceneLook look = plan_.scene.look(hit, rays_[i].direction);
      echoes_.push_back({hit.t, static_cast<std::uint32_t>(echoes_.size()), static_cast<float>(look.cosine),
                         look.color, look.organ});
    }
    rays_.clear();
    owner_.clear();
    while (done_ + 1 < open_.size()) finish();
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(done_));
    done_ = 0;
  }

  /// Records the oldest pulse in flight.
  void finish() {
    const Open& pulse = open_[done_];
    pulse_returns_of(echoes_, plan_.rules, returns_);
    echoes_.clear();
    const SyntheticScanParams& params = plan_.params;
    Vec3d direction = pulse.beam.direction;
    if (params.angle_noise_rad > 0)
      direction = beam_footprint::jittered(direction, params.angle_noise_rad, plan_.pulse_seed, pulse.pulse);
    if (returns_.empty() && params.record_misses)
      put({pulse.beam.origin + direction * kScanReach, static_cast<std::uint32_t>(pulse.pulse), 0,
           static_cast<float>(kScanReach), 0, kMissIndex, 0, 1},
          {0, 0, {0, 0, 0}});
    for (std::size_t i = 0; i < returns_.size(); ++i) record(pulse, direction, i);
    if (++done_ == open_.size()) {
      open_.clear();
      done_ = 0;
    }
  }

  void record(const Open& pulse, const Vec3d& direction, std::size_t i) {
    const PulseReturn& found = returns_[i];
    double range = found.range_m;
    if (plan_.params.range_noise_m > 0) {
      const std::uint64_t counter = 2 * (128 * pulse.pulse + i);
      range += plan_.params.range_noise_m * beam_footprint::NormalPair::of(plan_.range_seed, counter).a;
      range = std::max(range, 0.0);
    }
    const std::uint32_t same = plan_.traced_rays == 1 ? plan_.params.rays_per_pulse : 1;
    put({pulse.beam.origin + direction * range, static_cast<std::uint32_t>(pulse.pulse),
         static_cast<float>(found.energy), static_cast<float>(range), found.organ,
         static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(returns_.size()), 0},
        {static_cast<float>(found.deviation_m), found.ray_count * same, found.color});
  }

  void put(const Record& record, const RecordExtra& extra) {
    block_->records.push_back(record);
    if (plan_.has_extras) block_->extras.push_back(extra);
  }

  const Plan& plan_;
  RecordBlock* block_ = nullptr;
  std::vector<Open> open_;
  std::size_t done_ = 0;  ///< pulses of open_ that are recorded
  std::vector<Ray> rays_;
  std::vector<std::uint64_t> owner_;
  std::vector<SceneHit> hits_;
  ScanScene::Scratch scratch_;
  std::vector<RayEcho> echoes_;
  std::vector<PulseReturn> returns_;
};

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

/// Columns of the records, which are freed on the way.
class Output {
 public:
  Output(const Plan& plan, std::vector<RecordBlock>& blocks) : plan_(plan), blocks_(blocks) {
    std::size_t rows = 0;
    for (const RecordBlock& block : blocks_) {
      first_.push_back(rows);
      rows += block.records.size();
    }
    const bool moving = plan.params.is_moving, multi = plan.params.is_multi_return;
    const auto of = [&](bool wanted) { return wanted ? rows : 0; };
    out_ = {Column<Vec3d>(rows),
            Column<std::uint8_t>(rows),
            Column<float>(rows),
            Column<std::uint16_t>(rows),
            Column<float>(rows),
            Column<double>(rows),
            Column<std::uint8_t>(rows),
            Column<std::uint8_t>(rows),
            Column<Rgb16>(of(plan.scene.has_colors())),
            Column<std::uint8_t>(of(plan.scene.has_organs())),
            Column<float>(of(multi)),
            Column<std::uint32_t>(of(multi)),
            Column<std::uint32_t>(of(moving)),
            Column<Vec3d>(of(moving)),
            0,
            0,
            plan.params.pattern.pulse_count};
  }

  SyntheticScan take(OpContext& ctx) {
    std::vector<std::uint64_t> misses(blocks_.size());
    parallel_for(ctx, blocks_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) {
        RecordBlock& block = blocks_[b];
        for (std::size_t i = 0; i < block.records.size(); ++i) {
          put(first_[b] + i, block.records[i]);
          misses[b] += block.records[i].is_miss;
        }
        for (std::size_t i = 0; i < block.extras.size(); ++i) put(first_[b] + i, block.extras[i]);
        block.records.reset();
        block.extras.reset();
      }
    });
    for (const std::uint64_t count : misses) out_.miss_count += count;
    out_.hit_count = out_.positions.size() - out_.miss_count;
    return std::move(out_);
  }

 private:
  void put(std::size_t row, const Record& record) {
    out_.positions[row] = record.position;
    out_.is_miss[row] = record.is_miss;
    out_.intensity[row] = record.intensity;
    out_.intensity_16[row] = static_cast<std::uint16_t>(std::min(record.intensity, 1.0F) * 65535 + 0.5F);
    out_.distance[row] = record.distance;
    out_.time[row] = plan_.time_of(record.pulse);
    out_.target_index[row] = record.index;
    out_.target_count[row] = record.count;
    if (out_.organ.size() > 0) out_.organ[row] = record.organ;
    if (out_.pulse.size() > 0) {
      out_.pulse[row] = record.pulse;
      out_.beam_origin[row] = plan_.poses.origin(plan_.poses.at(plan_.time_of(record.pulse)));
    }
  }

  void put(std::size_t row, const RecordExtra& extra) {
    if (out_.color.size() > 0) out_.color[row] = extra.color;
    if (out_.deviation.size() == 0) return;
    out_.deviation[row] = extra.deviation;
    out_.ray_count[row] = extra.ray_count;
  }

  const Plan& plan_;
  std::vector<RecordBlock>& blocks_;
  std::vector<std::size_t> first_;
  SyntheticScan out_{};
};

}  // namespace

SyntheticScan synthetic_scan(const ScanScene& scene, const PoseStreamView& poses,
                             const SyntheticScanParams& params, OpContext& ctx) {
  check(params, poses);
  const Plan plan = plan_of(scene, poses, params, ctx.threads());
  const std::uint64_t pulses = params.pattern.pulse_count;
  const std::uint64_t block =
      std::max(std::clamp<std::uint64_t>(kBlockRays / plan.traced_rays, 16, kBlockPulses),
               (pulses + kMostBlocks - 1) / kMostBlocks);
  std::vector<RecordBlock> blocks(static_cast<std::size_t>((pulses + block - 1) / block));
  std::vector<PulseTracer> tracers(static_cast<std::size_t>(ctx.threads()), PulseTracer(plan));
  ctx.begin_phase("Ray-tracing scene", pulses);
  parallel_for_worker(ctx, pulses, block, [&](std::size_t begin, std::size_t end, int worker) {
    tracers[static_cast<std::size_t>(worker)].run(begin, end, blocks[begin / block], ctx);
  });
  tracers.clear();
  ctx.begin_phase("Extracting hits", blocks.size());
  return Output(plan, blocks).take(ctx);
}

}  // namespace pc

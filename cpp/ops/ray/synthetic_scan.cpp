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

namespace pc {

namespace {

using beam_footprint::Across;
using beam_footprint::Beam;
using beam_footprint::PulseTurn;
using beam_footprint::RayTurn;

constexpr std::uint32_t kMostRays = 100'000;
/// Rays that are traced together, and the bytes of one of them.
constexpr std::uint64_t kBatch = 4096, kLeastBatch = 16, kRayBytes = 384;
/// Rays of a block of pulses, and the most pulses and blocks.
constexpr std::uint64_t kBlockRays = std::uint64_t{1} << 18, kBlockPulses = 4096, kMostBlocks = 32768;
/// Nearer surfaces are what the scanner stands on, metres.
constexpr double kNearest = 1e-6;

/// A row of the result.
struct Record {
  Vec3d position;
  std::uint64_t pulse;
  float intensity, distance, deviation;
  std::uint32_t ray_count;
  Rgb16 color;
  std::uint8_t organ, index, count, is_miss;
};

/// Where a pulse goes.
struct PulseBeam {
  Vec3d origin, direction;
};

/// The part of a ray inside a box; empty if first > last.
struct Interval {
  double first, last;
};

class BoxClip {
 public:
  explicit BoxClip(const TraceBox& box)
      : box_(box), cos_(std::cos(box.rotation_rad)), sin_(std::sin(box.rotation_rad)) {}

  Interval operator()(const Vec3d& origin, const Vec3d& direction) const {
    const Vec3d from = turned(origin - box_.center), along = turned(direction);
    Interval part{kNearest, kScanReach};
    const double o[3] = {from.x, from.y, from.z}, d[3] = {along.x, along.y, along.z},
                 half[3] = {box_.size.x / 2, box_.size.y / 2, box_.size.z / 2};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (d[axis] == 0) {
        if (std::abs(o[axis]) > half[axis]) return {1, 0};
        continue;
      }
      const double a = (-half[axis] - o[axis]) / d[axis], b = (half[axis] - o[axis]) / d[axis];
      part.first = std::max(part.first, std::min(a, b));
      part.last = std::min(part.last, std::max(a, b));
    }
    return part;
  }

 private:
  Vec3d turned(const Vec3d& p) const { return {cos_ * p.x + sin_ * p.y, cos_ * p.y - sin_ * p.x, p.z}; }

  TraceBox box_;
  double cos_, sin_;
};

/// What all threads share.
struct Plan {
  const ScanScene& scene;
  const PoseStreamView& poses;
  const SyntheticScanParams& params;
  Beam beam;
  ReturnRules rules;
  std::uint32_t traced_rays;  ///< per pulse; 1 if all are the same
  std::vector<RayTurn> turns;
  std::optional<BoxClip> clip;
  std::uint64_t pulse_seed, range_seed;
  std::uint64_t batch;

  double time_of(std::uint64_t pulse) const {
    return params.first_time_s + static_cast<double>(pulse) * params.pulse_interval_s;
  }

  PulseBeam beam_of(std::uint64_t pulse) const {
    const Vec3d d = scan_pattern::pulse_direction(params.pattern, pulse);
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
  Plan plan{scene, poses, p, {p.divergence_rad, p.exit_diameter_m / 2, p.rays_per_pulse, tail}, {}, 1, {}, {},
            0,     0,     0};
  if (!plan.beam.ideal()) plan.traced_rays = p.rays_per_pulse;
  for (std::uint32_t k = 0; k < plan.traced_rays; ++k) plan.turns.push_back(RayTurn::of(k));
  plan.rules = {p.pulse_distance_m, p.detection_energy, plan.traced_rays,
                p.is_multi_return ? p.max_returns : 1, p.selection};
  if (p.box) plan.clip.emplace(*p.box);
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

  void run(std::uint64_t begin, std::uint64_t end, BulkVector<Record>& records, const OpContext& ctx) {
    records_ = &records;
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
      const Interval part = (*plan_.clip)(beam.origin, beam.direction);
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
    Interval part{kNearest, kScanReach};
    if (plan_.clip) part = (*plan_.clip)(origin, direction);
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
    if (returns_.empty() && params.record_misses) {
      records_->push_back({pulse.beam.origin + direction * kScanReach,
                           pulse.pulse,
                           0,
                           static_cast<float>(kScanReach),
                           0,
                           0,
                           {0, 0, 0},
                           0,
                           kMissIndex,
                           0,
                           1});
    }
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
    records_->push_back({pulse.beam.origin + direction * range, pulse.pulse, static_cast<float>(found.energy),
                         static_cast<float>(range), static_cast<float>(found.deviation_m),
                         found.ray_count * same, found.color, found.organ, static_cast<std::uint8_t>(i),
                         static_cast<std::uint8_t>(returns_.size()), 0});
  }

  const Plan& plan_;
  BulkVector<Record>* records_ = nullptr;
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
  Output(const Plan& plan, std::vector<BulkVector<Record>>& blocks) : plan_(plan), blocks_(blocks) {
    std::size_t rows = 0;
    for (const auto& block : blocks_) {
      first_.push_back(rows);
      rows += block.size();
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
        for (std::size_t i = 0; i < blocks_[b].size(); ++i) {
          put(first_[b] + i, blocks_[b][i]);
          misses[b] += blocks_[b][i].is_miss;
        }
        blocks_[b].reset();
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
    if (out_.color.size() > 0) out_.color[row] = record.color;
    if (out_.organ.size() > 0) out_.organ[row] = record.organ;
    if (out_.deviation.size() > 0) {
      out_.deviation[row] = record.deviation;
      out_.ray_count[row] = record.ray_count;
    }
    if (out_.pulse.size() > 0) {
      out_.pulse[row] = static_cast<std::uint32_t>(record.pulse);
      out_.beam_origin[row] = plan_.poses.origin(plan_.poses.at(plan_.time_of(record.pulse)));
    }
  }

  const Plan& plan_;
  std::vector<BulkVector<Record>>& blocks_;
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
  std::vector<BulkVector<Record>> blocks(static_cast<std::size_t>((pulses + block - 1) / block));
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

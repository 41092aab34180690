#include "ops/ray/pulse_tracer.h"

namespace pc::scan_plan {

using beam_footprint::Across;
using beam_footprint::PulseTurn;

void PulseTracer::run(std::uint64_t begin, std::uint64_t end, RecordBlock& block, const OpContext& ctx) {
  block_ = &block;
  open_.clear();
  rays_.clear();
  owner_.clear();
  for (std::uint64_t pulse = begin; pulse < end; ++pulse) fire(pulse, ctx);
  flush(ctx);
  while (!open_.empty()) finish();
}

void PulseTracer::fire(std::uint64_t pulse, const OpContext& ctx) {
  const PulseBeam beam = plan_.beam_of(pulse);
  const RayPart part = plan_.part_of(beam.origin, beam.direction);
  if (!(part.first <= part.last)) return;
  open_.push_back({pulse, beam});
  const Across across(beam.direction);
  const PulseTurn turn = plan_.turn_of(pulse);
  for (std::uint32_t k = 0; k < plan_.traced_rays; ++k) {
    const auto ray = beam_footprint::beam_ray(plan_.beam, beam.direction, across, k, plan_.turns[k], turn);
    add(beam.origin + ray.start, ray.direction, ctx);
  }
}

void PulseTracer::add(const Vec3d& origin, const Vec3d& direction, const OpContext& ctx) {
  const RayPart part = plan_.part_of(origin, direction);
  if (!(part.first <= part.last)) return;  // an outer ray that misses the box
  rays_.push_back({origin, direction, part.first, part.last});
  owner_.push_back(open_.back().pulse);
  if (rays_.size() >= plan_.batch) flush(ctx);
}

void PulseTracer::flush(const OpContext& ctx) {
  ctx.checkpoint();
  plan_.scene.first_hits(rays_, hits_, scratch_, ctx);
  SceneSide side;
  for (std::size_t i = 0; i < rays_.size(); ++i) {
    prefetch(plan_.scene, hits_, i);
    while (open_[done_].pulse != owner_[i]) finish();
    const SceneHit& hit = hits_[i];
    if (hit.triangle == bvh::kNone) continue;
    const SceneLook look = plan_.scene.look(hit, rays_[i].direction, side);
    echoes_.push_back({hit.t, static_cast<std::uint32_t>(echoes_.size()), static_cast<float>(look.cosine),
                       look.color, look.organ});
  }
  rays_.clear();
  owner_.clear();
  while (done_ + 1 < open_.size()) finish();
  open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(done_));
  done_ = 0;
}

void PulseTracer::finish() {
  const auto& [pulse, beam] = open_[done_];
  pulse_returns_of(echoes_, plan_.rules, returns_);
  echoes_.clear();
  const PulseBeam recorded{beam.origin, plan_.recorded(pulse, beam.direction)};
  if (returns_.empty() && plan_.params.record_misses) block_->add_miss(plan_, pulse, recorded);
  for (std::size_t i = 0; i < returns_.size(); ++i)
    block_->add_return(plan_, pulse, recorded, returns_[i], i, returns_.size());
  if (++done_ == open_.size()) {
    open_.clear();
    done_ = 0;
  }
}

}  // namespace pc::scan_plan

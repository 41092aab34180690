#include "ops/ray/axis_tracer.h"

#include <algorithm>

namespace pc::scan_plan {

std::uint64_t pulses_together(const Plan& plan) {
  if (plan.tile.columns == 1) return plan.batch;
  return std::uint64_t{plan.tile.columns} * plan.params.pattern.row_count;
}

void AxisTracer::run(std::uint64_t begin, std::uint64_t end, RecordBlock& block, const OpContext& ctx) {
  const std::uint64_t together = pulses_together(plan_);
  for (; begin < end; begin += together) trace(begin, std::min(begin + together, end), block, ctx);
}

void AxisTracer::trace(std::uint64_t begin, std::uint64_t end, RecordBlock& block, const OpContext& ctx) {
  ctx.checkpoint();
  rays_.clear();
  ray_of_.assign(static_cast<std::size_t>(end - begin), bvh::kNone);
  if (plan_.tile.columns > 1) {
    fire_tiles(begin, end);
  } else {
    for (std::uint64_t pulse = begin; pulse < end; ++pulse) fire(begin, pulse, plan_.beam_of(pulse));
  }
  plan_.scene.first_hits(rays_, hits_, scratch_, ctx);
  look();
  record(begin, end, block);
}

void AxisTracer::fire_tiles(std::uint64_t begin, std::uint64_t end) {
  const std::uint32_t rows = plan_.params.pattern.row_count;
  const std::uint64_t first = begin / rows;
  columns_.clear();
  for (std::uint64_t at = begin; at < end; at += rows) columns_.push_back(plan_.turn_of_column(at / rows));
  for (std::uint32_t top = 0; top < rows; top += plan_.tile.rows) {
    const std::uint32_t bottom = std::min(rows, top + plan_.tile.rows);
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::uint64_t above = (first + column) * rows;
      for (std::uint32_t row = top; row < bottom && above + row < end; ++row)
        fire(begin, above + row, plan_.beam_of(above + row, row, columns_[column]));
    }
  }
}

void AxisTracer::fire(std::uint64_t begin, std::uint64_t pulse, const PulseBeam& beam) {
  const RayPart part = plan_.part_of(beam.origin, beam.direction);
  if (!(part.first <= part.last)) return;
  ray_of_[static_cast<std::size_t>(pulse - begin)] = static_cast<std::uint32_t>(rays_.size());
  rays_.push_back({beam.origin, beam.direction, part.first, part.last});
}

void AxisTracer::look() {
  returns_.resize(rays_.size());
  SceneSide side;
  for (std::size_t i = 0; i < rays_.size(); ++i) {
    prefetch(plan_.scene, hits_, i);
    const SceneHit& hit = hits_[i];
    if (hit.triangle == bvh::kNone) continue;
    const SceneLook look = plan_.scene.look(hit, rays_[i].direction, side);
    returns_[i] = {hit.t, static_cast<double>(static_cast<float>(look.cosine)), 0, 1, look.color, look.organ};
  }
}

void AxisTracer::record(std::uint64_t begin, std::uint64_t end, RecordBlock& block) {
  for (std::uint64_t pulse = begin; pulse < end; ++pulse) {
    const std::uint32_t i = ray_of_[static_cast<std::size_t>(pulse - begin)];
    if (i == bvh::kNone) continue;
    const bool seen = hits_[i].triangle != bvh::kNone && returns_[i].energy >= plan_.rules.detection_energy;
    if (!seen && !plan_.params.record_misses) continue;
    const PulseBeam recorded{rays_[i].origin, plan_.recorded(pulse, rays_[i].direction)};
    if (seen) {
      block.add_return(plan_, pulse, recorded, returns_[i], 0, 1);
    } else {
      block.add_miss(plan_, pulse, recorded);
    }
  }
}

}  // namespace pc::scan_plan

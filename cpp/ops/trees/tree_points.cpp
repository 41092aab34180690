#include "ops/trees/tree_points.h"

#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/cloud/class_set.h"
#include "ops/trees/return_spacing.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

struct Tally {
  std::uint64_t vegetation = 0, ground = 0, non_finite = 0;
  Box3d box;
};

}  // namespace

TreePoints tree_points(Span<const Vec3d> positions, Span<const std::uint8_t> skip, const AnyColumn* ground,
                       OpContext& ctx) {
  require(skip.empty() || skip.size == positions.size, "one skip flag per row is needed");
  require(ground == nullptr || ground->size() == positions.size, "one ground class per row is needed");
  ctx.begin_phase("Separating ground and vegetation", positions.size);
  TreePoints out{Column<std::uint8_t>(positions.size), {}, 0, 0, 0, {}, 0};
  if (ground != nullptr) {
    out.not_ground = Column<std::uint8_t>(positions.size);
    const ClassSet classes({1});
    visit_scalar(*ground, [&](auto values) {
      parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) out.not_ground[i] = classes.holds(values[i]) ? 0 : 1;
      });
    });
  }
  std::vector<Tally> tallies((positions.size + kGrain - 1) / kGrain);
  parallel_for(ctx, positions.size, kGrain, [&](std::size_t begin, std::size_t end) {
    Tally tally;
    for (std::size_t i = begin; i < end; ++i) {
      std::uint8_t why = skip.empty() ? std::uint8_t{0} : skip[i];
      const bool hit = why == 0, finite = is_finite(positions[i]);
      const bool is_ground = ground != nullptr && out.not_ground[i] == 0;
      if (!finite) why |= kSkipNonFinite;
      if (is_ground) why |= kSkipGround;
      tally.non_finite += hit && !finite ? 1 : 0;
      tally.ground += hit && finite && is_ground ? 1 : 0;
      tally.vegetation += why == 0 ? 1 : 0;
      if (why == 0) tally.box.add(positions[i]);
      out.skip[i] = why;
      if (is_ground && (!hit || !finite)) out.not_ground[i] = 1;
    }
    tallies[begin / kGrain] = tally;
  });
  for (const Tally& tally : tallies) {
    out.vegetation_count += tally.vegetation;
    out.ground_count += tally.ground;
    out.non_finite_count += tally.non_finite;
    out.box.add(tally.box);
  }
  out.spacing_m = return_spacing(positions, skip, ctx);
  return out;
}

std::vector<std::uint32_t> unused_numbers(Span<const std::uint32_t> labels, std::uint64_t count,
                                          OpContext& ctx) {
  std::vector<std::uint8_t> used(count, 0);
  for (std::size_t i = 0; i < labels.size; ++i) {
    if (i % kGrain == 0) ctx.checkpoint();
    if (labels[i] >= 1 && labels[i] <= count) used[labels[i] - 1] = 1;
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t k = 0; k < count; ++k)
    if (used[k] == 0) out.push_back(k);
  return out;
}

}  // namespace pc

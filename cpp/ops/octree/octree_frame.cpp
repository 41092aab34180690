#include "ops/octree/octree_frame.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/parallel.h"

namespace pc::octree {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;
constexpr double kMaxSteps = 1 << kMaxLevel;
constexpr std::uint32_t kMinSideSteps = kSpacingsPerNode;  // the spacing is at least one step

struct Extent {
  Box3d box;
  std::uint64_t count = 0;
  std::size_t bad_row = std::numeric_limits<std::size_t>::max();
};

void measure(const OctreeInput& input, std::size_t begin, std::size_t end, Extent& extent) {
  Box3d box = extent.box;
  for (std::size_t i = begin; i < end; ++i) {
    if (!input.skip.empty() && input.skip[i] != 0) continue;
    const Vec3d& p = input.positions[i];
    if (!is_finite(p)) {
      extent.bad_row = std::min(extent.bad_row, i);
      continue;
    }
    box.add(p);
    ++extent.count;
  }
  extent.box = box;
}

Extent measure_all(const OctreeInput& input, OpContext& ctx) {
  std::vector<Extent> parts(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(ctx, input.positions.size, kGrain, [&](std::size_t begin, std::size_t end, int worker) {
    Extent part = parts[static_cast<std::size_t>(worker)];  // a local copy: the parts share cache lines
    measure(input, begin, end, part);
    parts[static_cast<std::size_t>(worker)] = part;
  });
  Extent all;
  for (const Extent& part : parts) {
    all.box.add(part.box);
    all.count += part.count;
    all.bad_row = std::min(all.bad_row, part.bad_row);
  }
  return all;
}

double offset_of(double min, double extent, double scale) {
  // An offset of whole metres keeps coordinates that are multiples of a millimetre exact; it is dropped if it would
  // cost range.
  if (scale <= 1 && extent / scale + 1 / scale + 2 < kMaxSteps) return std::floor(min);
  const double lattice = std::floor(min / scale) * scale;
  return std::isfinite(lattice) && std::abs(lattice - min) <= scale ? lattice : min;
}

}  // namespace

Frame make_frame(const OctreeInput& input, double wanted_scale, OpContext& ctx) {
  const Extent extent = measure_all(input, ctx);
  if (extent.bad_row != std::numeric_limits<std::size_t>::max()) {
    throw Error(ErrorCode::kInvalidArgument, "row " + std::to_string(extent.bad_row) +
                                                 " has a coordinate that is not finite; skip such rows");
  }
  Frame frame;
  frame.point_count = extent.count;
  frame.scale = wanted_scale;
  if (extent.count != 0) {
    // min + 0.0: whether -0 or +0 is the minimum depends on the order of rows.
    frame.tight.min = extent.box.min + Vec3d{0, 0, 0};
    frame.tight.max = extent.box.max + Vec3d{0, 0, 0};
  }
  const Box3d box = extent.count != 0 ? frame.tight : Box3d{{0, 0, 0}, {0, 0, 0}};
  const Vec3d size = box.max - box.min;
  const double largest = std::max({size.x, size.y, size.z});
  require(std::isfinite(largest),
          "the cloud's extent is beyond the range of a double; leave out the far rows");
  for (double factor = 10; largest / frame.scale + 2 > kMaxSteps; factor *= 10)
    frame.scale = wanted_scale * factor;
  frame.inverse_scale = 1 / frame.scale;
  frame.offset = {offset_of(box.min.x, size.x, frame.scale), offset_of(box.min.y, size.y, frame.scale),
                  offset_of(box.min.z, size.z, frame.scale)};
  const auto stored = [&](double value, double offset) {
    return static_cast<std::int32_t>(std::llrint((value - offset) * frame.inverse_scale));
  };
  frame.base[0] = stored(box.min.x, frame.offset.x);
  frame.base[1] = stored(box.min.y, frame.offset.y);
  frame.base[2] = stored(box.min.z, frame.offset.z);
  const Steps last = frame.quantise(box.max);
  frame.side_steps = std::max({last.x + 1, last.y + 1, last.z + 1, kMinSideSteps});
  frame.cells_per_step = kMaxSteps / frame.side_steps;
  return frame;
}

}  // namespace pc::octree

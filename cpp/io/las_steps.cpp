#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "io/las_plan.h"

namespace pc::io::las {

namespace {

constexpr double kMaxSteps = 2147483646.0;  // one less than int32 holds, to allow for rounding

double axis_of(const Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/// Tests whether coordinates are steps of a grid, within the rounding of the sums that computed them.
class GridCheck {
 public:
  GridCheck(const LasGrid& grid, const Vec3d& view_offset, std::size_t axis)
      : scale_(axis_of(grid.scale, axis)),
        per_step_(1.0 / scale_),
        offset_(axis_of(grid.offset, axis)),
        reach_(std::abs(offset_) + std::abs(axis_of(view_offset, axis))) {}
  bool usable() const { return std::isfinite(scale_) && std::isfinite(per_step_) && std::isfinite(offset_); }
  bool holds(double value) const {
    const double place = (value - offset_) * per_step_;
    if (!(place <= 2147483647.4 && place >= -2147483648.4)) return false;  // int32
    const double step = (place + kRound) - kRound;  // rounds to the nearest whole number without a call
    return std::abs(step * scale_ + offset_ - value) <= kRoundings * (std::abs(value) + reach_);
  }

 private:
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kRoundings = 4 * 2.220446049250313e-16;
  double scale_, per_step_, offset_, reach_;
};

/// Offset and step of one axis: offset floor(min); the step is enlarged tenfold until 32 bits hold the range.
void choose_step(double low, double high, char axis, double& scale, double& offset, LasWriteResult& result) {
  const double wanted = scale;
  offset = std::floor(low);
  while (std::isfinite(scale) && !((high - offset) / scale <= kMaxSteps)) scale *= 10.0;
  if (!std::isfinite(scale * 2147483648.0 + std::abs(offset))) {
    throw Error(ErrorCode::kInvalidArgument, std::string("the ") + axis + " coordinates from " +
                                                 number_text(low) + " to " + number_text(high) +
                                                 " are too far apart for a LAS file");
  }
  if (scale != wanted) {
    result.warnings.push_back(std::string("the ") + axis + " coordinates span " + number_text(high - low) +
                              ", too much for steps of " + number_text(wanted) + "; steps of " +
                              number_text(scale) + " are written");
  }
}

}  // namespace

Extent written_extent(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                      OpContext& ctx) {
  const LasGrid grid = params.grid.value_or(LasGrid{{0, 0, 0}, {0, 0, 0}});
  const GridCheck checks[3] = {{grid, view.offset, 0}, {grid, view.offset, 1}, {grid, view.offset, 2}};
  std::vector<Extent> extents(static_cast<std::size_t>(ctx.threads()));
  for (Extent& own : extents) {
    for (std::size_t axis = 0; axis < 3; ++axis) own.on_grid[axis] = checks[axis].usable();
  }
  parallel_for_worker(
      ctx, view.positions.size, blocks.grain(), [&](std::size_t begin, std::size_t end, int worker) {
        std::vector<std::size_t> rows;
        blocks.collect(begin, end, rows);
        Extent& own = extents[static_cast<std::size_t>(worker)];
        for (const std::size_t row : rows) {
          const Vec3d p = view.positions[row] + view.offset;
          if (!is_finite(p)) {
            throw Error(
                ErrorCode::kInvalidArgument,
                "row " + std::to_string(row) + " has a coordinate that is not finite; LAS cannot store it");
          }
          own.box.add(p);
          for (std::size_t axis = 0; axis < 3; ++axis)
            own.on_grid[axis] = own.on_grid[axis] && checks[axis].holds(axis_of(p, axis));
        }
      });
  Extent all;
  for (const Extent& own : extents) {
    all.box.add(own.box);
    for (std::size_t axis = 0; axis < 3; ++axis) all.on_grid[axis] = all.on_grid[axis] && own.on_grid[axis];
  }
  return all;
}

void choose_steps(const Extent& extent, const LasWriteParams& params, LasWriteResult& result) {
  const Box3d& box = extent.box;
  double* scales[3] = {&result.scale.x, &result.scale.y, &result.scale.z};
  double* offsets[3] = {&result.offset.x, &result.offset.y, &result.offset.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    *scales[axis] = params.scale_m;
    if (extent.on_grid[axis] && params.grid) {
      *scales[axis] = axis_of(params.grid->scale, axis);
      *offsets[axis] = axis_of(params.grid->offset, axis);
    } else if (!box.empty()) {
      choose_step(axis_of(box.min, axis), axis_of(box.max, axis), "xyz"[axis], *scales[axis], *offsets[axis],
                  result);
    }
  }
}

}  // namespace pc::io::las

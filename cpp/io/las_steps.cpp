#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "io/las_plan.h"
#include "io/las_step_check.h"

namespace pc::io::las {

namespace {

constexpr double kMaxSteps = 2147483646.0;  // one less than int32 holds, to allow for rounding
/// Steps of a cloud whose points lie on none, coarse to fine; of plants scanned from near, at most the first two.
constexpr double kFineSteps[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
constexpr double kMostOfSpacing = 0.1;   // a step; it moves a coordinate by half of that at most
constexpr double kToldOfSpacing = 0.01;  // a move

/// The step to write an axis with if 32 bits hold its range.
double wanted_step(const Extent& extent, std::size_t axis, const LasWriteParams& params) {
  if (extent.multiple_of[axis] > 0) return extent.multiple_of[axis];
  const double most = extent.spacing * kMostOfSpacing;
  const bool other_unit = params.epsg_is_geographic && axis == 2;  // the spacing is in degrees
  if (params.step_known || other_unit || !(most > 0) || params.scale_m <= most) return params.scale_m;
  for (const double step : kFineSteps) {
    if (step <= most) return std::min(step, params.scale_m);
  }
  return std::min(kFineSteps[std::size(kFineSteps) - 1], params.scale_m);
}

/// Offset and step of one axis: offset floor(min); the step is enlarged tenfold until 32 bits hold the range.
void fit_step(double low, double high, char axis, double& scale, double& offset) {
  offset = std::floor(low);
  while (std::isfinite(scale) && !((high - offset) / scale <= kMaxSteps)) scale *= 10.0;
  if (!std::isfinite(scale * 2147483648.0 + std::abs(offset))) {
    throw Error(ErrorCode::kInvalidArgument, std::string("the ") + axis + " coordinates from " +
                                                 number_text(low) + " to " + number_text(high) +
                                                 " are too far apart for a LAS file");
  }
}

/// What the steps of one axis do to the written coordinates.
struct Moves {
  std::uint64_t count = 0;
  double largest = 0;  ///< units of the file
};

Moves count_moves(const CloudView& view, const StepCheck& check, std::size_t axis, const RowBlocks& blocks,
                  OpContext& ctx) {
  std::vector<Moves> parts(static_cast<std::size_t>(ctx.threads()));
  parallel_for_worker(
      ctx, view.positions.size, blocks.grain(), [&](std::size_t begin, std::size_t end, int worker) {
        std::vector<std::size_t> rows;
        blocks.collect(begin, end, rows);
        Moves own = parts[static_cast<std::size_t>(worker)];
        for (const std::size_t row : rows) {
          const double value = axis_of(view.positions[row], axis) + axis_of(view.offset, axis);
          const double move = check.distance(value);
          if (move <= check.allowed(value)) continue;
          ++own.count;
          own.largest = std::max(own.largest, move);
        }
        parts[static_cast<std::size_t>(worker)] = own;
      });
  Moves all;
  for (const Moves& own : parts) {
    all.count += own.count;
    all.largest = std::max(all.largest, own.largest);
  }
  return all;
}

}  // namespace

void choose_steps(const CloudView& view, const Extent& extent, const LasWriteParams& params,
                  const RowBlocks& blocks, LasWriteResult& result, OpContext& ctx) {
  const Box3d& box = extent.box;
  double* scales[3] = {&result.scale.x, &result.scale.y, &result.scale.z};
  double* offsets[3] = {&result.offset.x, &result.offset.y, &result.offset.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double &scale = *scales[axis], &offset = *offsets[axis];
    scale = params.scale_m;
    if (extent.on_grid[axis] && params.grid) {
      scale = axis_of(params.grid->scale, axis);
      offset = axis_of(params.grid->offset, axis);
      continue;
    }
    if (box.empty()) continue;
    const double wanted = wanted_step(extent, axis, params);
    const double low = axis_of(box.min, axis), high = axis_of(box.max, axis);
    scale = wanted;
    fit_step(low, high, "xyz"[axis], scale, offset);
    if (scale == wanted) continue;
    const StepCheck check(scale, offset, axis_of(view.offset, axis));
    const Moves moves = count_moves(view, check, axis, blocks, ctx);
    const bool nothing = extent.spacing > 0 && moves.largest <= extent.spacing * kToldOfSpacing;
    if (scale <= params.scale_m && nothing) continue;
    result.warnings.push_back(std::string("the ") + "xyz"[axis] + " coordinates span " +
                              number_text(high - low) + ", too much for steps of " + number_text(wanted) +
                              "; steps of " + number_text(scale) + " are written, which moves " +
                              std::to_string(moves.count) + " of " + std::to_string(blocks.total()) +
                              " points by up to " + number_text(moves.largest));
  }
}

}  // namespace pc::io::las

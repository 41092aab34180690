#include "ops/ray/scanner_frame.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/ray/pose_list.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Calls body(row, pose, view) for every row with a time, otherwise(row) for the others.
template <class Body, class Otherwise>
void for_each_pose(std::size_t rows, Span<const double> times_s, const MovingScanner& scanner, OpContext& ctx,
                   const Body& body, const Otherwise& otherwise) {
  require(times_s.size == rows, "one time per point is needed");
  require(is_finite(scanner.lever_arm), "lever_arm must be finite");
  for (const auto& line : scanner.boresight.r)
    for (const double value : line) require(std::isfinite(value), "boresight_rpy must be finite");
  const std::vector<Pose> stream = read_poses(scanner.poses);
  const PoseStreamView view{{stream.data(), stream.size()}, scanner.lever_arm, scanner.boresight};
  ctx.begin_phase("Joining trajectory", rows);
  parallel_for(ctx, rows, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isfinite(times_s[i]))
        body(i, view.at(times_s[i]), view);
      else
        otherwise(i);
    }
  });
}

}  // namespace

Column<Vec3d> to_scanner_frame(Span<const Vec3d> positions, Span<const double> times_s,
                               const MovingScanner& scanner, OpContext& ctx) {
  Column<Vec3d> out(positions.size);
  for_each_pose(
      positions.size, times_s, scanner, ctx,
      [&](std::size_t i, const Pose& pose, const PoseStreamView& view) {
        const Vec3d in_body = pose.turn.rotation().undo(positions[i] - view.origin(pose));
        out[i] = view.boresight.undo(in_body);
      },
      [&](std::size_t i) {
        out[i] = {kNaN, kNaN, kNaN};
      });
  return out;
}

ScannerBeams from_scanner_frame(Span<const Vec3d> positions, Span<const double> times_s,
                                const MovingScanner& scanner, OpContext& ctx) {
  ScannerBeams out{Column<Vec3d>(positions.size), Column<Vec3d>(positions.size)};
  for_each_pose(
      positions.size, times_s, scanner, ctx,
      [&](std::size_t i, const Pose& pose, const PoseStreamView& view) {
        out.origins[i] = view.origin(pose);
        out.positions[i] = out.origins[i] + pose.turn.rotation().apply(view.boresight.apply(positions[i]));
      },
      [&](std::size_t i) {
        out.positions[i] = out.origins[i] = {kNaN, kNaN, kNaN};
      });
  return out;
}

}  // namespace pc

#pragma once
#include "core/column.h"
#include "core/op_context.h"
#include "ops/ray/pose_stream.h"

namespace pc {

/// A scanner on a moving body.
struct MovingScanner {
  Span<const double>
      poses;           ///< (8 m) t, x, y, z, qx, qy, qz, qw of each pose: seconds, metres, body to world
  Vec3d lever_arm;     ///< metres, frame of the body: optical centre of the scanner
  Rotation boresight;  ///< from the frame of the scanner to that of the body
};

/// Points as the scanner saw them at their times: its optical centre is the origin, its axes are those of its pattern.
///
/// positions  (n) metres, frame of the poses
/// times_s    (n) clock of the poses; a point without a finite time is NaN
/// Order      Row order, for any number of threads.
/// Cost       O(n log m), 24 bytes per row. Cancel within 50 ms.
/// Errors     kInvalidArgument: those of read_poses, lengths that differ, values that are not finite.
/// Source     Contract wire 11.3.
Column<Vec3d> to_scanner_frame(Span<const Vec3d> positions, Span<const double> times_s,
                               const MovingScanner& scanner, OpContext& ctx);

/// Where the scanner saw points, and from where.
struct ScannerBeams {
  Column<Vec3d> positions;  ///< (n) metres, frame of the poses
  Column<Vec3d> origins;    ///< (n) optical centre
};

/// Inverse of to_scanner_frame, with the optical centre of each point. Errors, order and cost as there.
ScannerBeams from_scanner_frame(Span<const Vec3d> positions, Span<const double> times_s,
                                const MovingScanner& scanner, OpContext& ctx);

}  // namespace pc

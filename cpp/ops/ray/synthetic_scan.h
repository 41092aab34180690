#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"
#include "ops/ray/pose_stream.h"
#include "ops/ray/pulse_returns.h"
#include "ops/ray/scan_pattern.h"
#include "ops/ray/scan_scene.h"

namespace pc {

/// Misses are placed this far along their beam, metres; surfaces beyond are not seen.
constexpr double kScanReach = 1001;
/// target_index of misses; the most returns of a pulse.
constexpr std::uint8_t kMissIndex = 99;

/// A box, rotated about the vertical axis through its centre, to which rays are confined.
struct TraceBox {
  Vec3d center, size;   ///< metres
  double rotation_rad;  ///< counter-clockwise seen from above
};

struct SyntheticScanParams {
  ScanPattern pattern;
  Vec3d origin;    ///< metres; of a scanner that stands still
  Rotation tilt;   ///< of it, from its frame to the world
  bool is_moving;  ///< origin and attitude come from the poses
  double first_time_s, pulse_interval_s;
  std::uint32_t rays_per_pulse;  ///< 1 to 100000
  double exit_diameter_m;        ///< 1 / e^2 diameter of the beam at the aperture, >= 0
  double divergence_rad;         ///< 1 / e^2 half angle of the beam, >= 0
  double pulse_distance_m;  ///< echoes up to this far behind the first one of a return belong to it, >= 0
  double detection_energy;  ///< returns with a smaller share of the pulse's energy are not seen, 0..0.5
  double range_noise_m, angle_noise_rad;  ///< standard deviations, >= 0; the angle along each of two axes
  bool is_multi_return;
  std::uint32_t max_returns;    ///< of a pulse in multi-return mode, 1 to 99
  ReturnSelection selection;    ///< of returns, if there are more
  bool record_misses;           ///< keep pulses without a return
  std::optional<TraceBox> box;  ///< surfaces outside do not exist; pulses whose axis misses it are not fired
  std::uint64_t seed, scan_index;
  std::uint64_t scratch_bytes;  ///< of all rays in flight, together; at least 16 rays per thread are
};

/// One row per return and recorded miss, in the order of the pulses, then by range. Columns that the scan does not have
/// are empty.
struct SyntheticScan {
  Column<Vec3d> positions;                          ///< metres
  Column<std::uint8_t> is_miss;                     ///< 1 = no return; at kScanReach along the beam
  Column<float> intensity;                          ///< share of the pulse's energy that comes back, 0..1
  Column<std::uint16_t> intensity_16;               ///< the same, 0..65535
  Column<float> distance;                           ///< metres from the beam origin
  Column<double> time;                              ///< seconds
  Column<std::uint8_t> target_index, target_count;  ///< from 0, misses 99; returns of the pulse, misses 0
  Column<Rgb16> color;                              ///< scenes with colours
  Column<std::uint8_t> organ;                       ///< scenes with organ codes
  Column<float> deviation;                          ///< metres; multi-return scans
  Column<std::uint32_t> ray_count;                  ///< rays of the return; multi-return scans
  Column<std::uint32_t> pulse;                      ///< moving scans
  Column<Vec3d> beam_origin;                        ///< metres; moving scans
  std::uint64_t hit_count, miss_count, pulse_count;
  std::vector<std::string> warnings;  ///< why the CPU traced what the GPU was asked for
};

/// Scans a scene: traces the rays of every pulse and makes returns of what they hit.
///
/// scene    its surfaces have two sides; range and energy of a ray are the distance to the first of them and the |cosine|
///          of its incidence
/// poses    of moving scans
/// Order    The result does not depend on threads, device and scratch_bytes: every number of a pulse is a function of the seed, the
///          scan, the pulse and the ray.
/// Cost     O(rays log triangles); beside the result 64 bytes per row of a multi-return scan, room for a row per pulse of another.
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: a parameter out of its range, not finite; more than 2^32 - 1 pulses; prisms that reflect
///          their light totally.
/// Source   Contract core-endpoints.md 9, lad.md 5.3. Angle noise is that of the recorded direction: rays follow the
///          pattern, and the recorded direction is off by the noise.
SyntheticScan synthetic_scan(const ScanScene& scene, const PoseStreamView& poses,
                             const SyntheticScanParams& params, OpContext& ctx);

}  // namespace pc

#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/ray/beam_footprint.h"
#include "ops/ray/box_clip.h"
#include "ops/ray/synthetic_scan.h"

/// What the threads of a synthetic scan share.
namespace pc::scan_plan {

/// Nearer surfaces are what the scanner stands on, metres.
constexpr double kNearest = 1e-6;
/// Rays that are traced together.
constexpr std::uint64_t kBatch = 4096, kLeastBatch = 16, kDeviceBatch = 16'384;
/// Hits whose triangles are loaded ahead.
constexpr std::size_t kAhead = 24;

/// Sine and cosine of an angle of the pattern.
struct Turn {
  double sin, cos;
};

/// Where a pulse goes.
struct PulseBeam {
  Vec3d origin, direction;
};

/// Rows and columns of the pulses that are fired together; 32 of them, one after another, make a packet: they point to one
/// place. 1 x 1: pulses in their order.
struct Tile {
  std::uint32_t rows, columns;
};

class Plan {
 public:
  /// device  of the scene, or nullptr
  Plan(const ScanScene& scene, const PoseStreamView& poses, const SyntheticScanParams& params, int threads,
       SceneDevice* device);

  double time_of(std::uint64_t pulse) const {
    return params.first_time_s + static_cast<double>(pulse) * params.pulse_interval_s;
  }
  /// The beam as it is traced. Errors: kInvalidArgument: prisms that reflect the light totally.
  PulseBeam beam_of(std::uint64_t pulse) const;
  /// Whether pulses have rows and columns of few enough rows; then the beam of one that belongs to a column.
  bool has_rows() const { return !zenith_.empty(); }
  Turn turn_of_column(std::uint64_t column) const;
  PulseBeam beam_of(std::uint64_t pulse, std::uint32_t row, const Turn& column) const {
    const Turn &zenith = zenith_[row], &drift = drift_[row];
    return placed(pulse, {zenith.sin * (column.sin * drift.cos + column.cos * drift.sin),
                          zenith.sin * (column.cos * drift.cos - column.sin * drift.sin), zenith.cos});
  }
  /// The part of a ray that is looked at; empty (first > last) if it misses the box.
  RayPart part_of(const Vec3d& origin, const Vec3d& direction) const {
    return clip ? clip->part(origin, direction, kNearest, kScanReach) : RayPart{kNearest, kScanReach};
  }
  beam_footprint::PulseTurn turn_of(std::uint64_t pulse) const {
    return beam_footprint::PulseTurn::of(pulse_seed_, pulse);
  }
  /// The direction that is recorded for a beam.
  Vec3d recorded(std::uint64_t pulse, const Vec3d& direction) const;
  /// The range that is recorded for the i-th return of a pulse, metres.
  double recorded(std::uint64_t pulse, std::size_t i, double range_m) const;

  const ScanScene& scene;
  const PoseStreamView& poses;
  const SyntheticScanParams& params;
  SceneDevice* const device;  ///< that traces the rays, or nullptr
  beam_footprint::Beam beam;
  ReturnRules rules;
  std::uint32_t traced_rays = 1;  ///< per pulse; 1 if all are the same
  bool has_extras;
  std::vector<beam_footprint::RayTurn> turns;
  std::optional<BoxClip> clip;
  std::uint64_t batch;
  Tile tile{1, 1};  ///< of pulses of one ray

 private:
  /// The beam of a direction in the frame of the scanner, unit.
  PulseBeam placed(std::uint64_t pulse, const Vec3d& direction) const;
  void set_tile(std::uint64_t most);

  std::vector<Turn> zenith_;  ///< of the rows; empty for patterns without rows, or with too many
  std::vector<Turn> drift_;   ///< how far the scanner turns until it fires a row
  std::uint64_t pulse_seed_, range_seed_;
};

/// Loads what look() of some hits after the i-th one reads.
inline void prefetch(const ScanScene& scene, const std::vector<SceneHit>& hits, std::size_t i) {
  const auto is_new = [&](std::size_t k) {
    return k < hits.size() && hits[k].triangle != hits[k - 1].triangle;
  };
  if (is_new(i + kAhead)) scene.prefetch_look(hits[i + kAhead]);
  if (is_new(i + kAhead / 2)) scene.prefetch_corners(hits[i + kAhead / 2]);
}

}  // namespace pc::scan_plan

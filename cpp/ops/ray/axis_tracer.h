#pragma once
#include <cstdint>
#include <vector>

#include "ops/ray/scan_rows.h"

namespace pc::scan_plan {

/// Makes the rows of pulses of one ray. Rays are traced by tiles of the pattern, whose rays meet the same surfaces. One per
/// thread.
class AxisTracer {
 public:
  explicit AxisTracer(const Plan& plan) : plan_(plan) { scratch_.device = plan.device; }

  void run(std::uint64_t begin, std::uint64_t end, RecordBlock& block, const OpContext& ctx);

 private:
  /// Traces and records the pulses [begin, end).
  void trace(std::uint64_t begin, std::uint64_t end, RecordBlock& block, const OpContext& ctx);
  /// The same pulses by tiles; `begin` is the first of a column.
  void fire_tiles(std::uint64_t begin, std::uint64_t end);
  void fire(std::uint64_t begin, std::uint64_t pulse, const PulseBeam& beam);
  void look();
  void record(std::uint64_t begin, std::uint64_t end, RecordBlock& block);

  const Plan& plan_;
  std::vector<Ray> rays_;
  std::vector<std::uint32_t> ray_of_;  ///< of each pulse, or bvh::kNone
  std::vector<Turn> columns_;
  std::vector<SceneHit> hits_;
  std::vector<PulseReturn> returns_;  ///< of each ray, if it hits
  ScanScene::Scratch scratch_;
};

/// Pulses that an AxisTracer should get at once, or a multiple.
std::uint64_t pulses_together(const Plan& plan);

}  // namespace pc::scan_plan

#pragma once
#include <cstdint>
#include <vector>

#include "ops/ray/scan_rows.h"

namespace pc::scan_plan {

/// Makes the rows of pulses of several rays, one after another. One per thread.
class PulseTracer {
 public:
  explicit PulseTracer(const Plan& plan) : plan_(plan) { scratch_.device = plan.device; }

  void run(std::uint64_t begin, std::uint64_t end, RecordBlock& block, const OpContext& ctx);

 private:
  /// A pulse whose rays are in flight.
  struct Open {
    std::uint64_t pulse;
    PulseBeam beam;
  };

  void fire(std::uint64_t pulse, const OpContext& ctx);
  void add(const Vec3d& origin, const Vec3d& direction, const OpContext& ctx);
  /// Traces the rays in flight. The newest pulse may get more of them.
  void flush(const OpContext& ctx);
  /// Records the oldest pulse in flight.
  void finish();

  const Plan& plan_;
  RecordBlock* block_ = nullptr;
  std::vector<Open> open_;
  std::size_t done_ = 0;  ///< pulses of open_ that are recorded
  std::vector<Ray> rays_;
  std::vector<std::uint64_t> owner_;
  std::vector<SceneHit> hits_;
  ScanScene::Scratch scratch_;
  std::vector<RayEcho> echoes_;
  std::vector<PulseReturn> returns_;
};

}  // namespace pc::scan_plan

#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/gpu_run.h"
#include "core/memory.h"
#include "core/op_context.h"
#include "ops/registration/icp_level.h"
#include "ops/registration/icp_pairs_kernel.h"
#include "ops/registration/rigid_transform.h"

namespace pc {

/// The two sides of a registration at one level of detail.
struct IcpScale {
  double voxel_m;  ///< 0 = all points
  IcpLevel fixed, moving;

  std::size_t pair_count() const { return moving.points.size() + fixed.points.size(); }
  /// The wider spacing of the two, metres.
  double spacing_m() const { return fixed.spacing_m > moving.spacing_m ? fixed.spacing_m : moving.spacing_m; }
};

/// The nearest point of the other side, first for each moving point, then (IcpQueries::kBoth) for each fixed one.
struct IcpPairs {
  static constexpr std::uint32_t kNone = icp_pairs_kernel::kNone;
  BulkVector<std::uint32_t> slot;  ///< of the other side; kNone = nothing within the limit
  BulkVector<double> squared;      ///< distance, square metres; infinite without a partner

  /// What the last pass on the CPU found out, and its pose. Pairs that are dropped later stay known here.
  BulkVector<icp_pairs_kernel::Known> known;
  icp_pairs_kernel::Motions known_at{};
};

enum class IcpQueries : std::uint8_t { kBoth, kMoving };

/// The sides that a registration has on the GPU: those of the scale that was searched last.
class IcpDevice {
 public:
  /// Finds the first `pairs.slot.size()` pairs; false if the CPU must, then no pair is known. `scale` must stay where it is.
  bool find(const IcpScale& scale, const icp_pairs_kernel::Queries& queries, IcpPairs& pairs, OpContext& ctx,
            GpuRun& gpu);
  void close() {
    sides_.reset();
    scale_ = nullptr;
  }

 private:
  bool open(const IcpScale& scale, GpuRun& gpu);

  const IcpScale* scale_ = nullptr;
  std::unique_ptr<void, void (*)(void*)> sides_{nullptr, [](void*) {}};
};

/// Where the GPU finds pairs: the calls of an op, and what it has on the device.
struct IcpGpu {
  GpuRun& run;
  IcpDevice& device;
};

/// Finds the pairs at a pose. The pairs of an earlier pose of the same level make the search faster, not different.
/// With kMoving, there are no pairs of the fixed points. `gpu`: where it can compute them, or nullptr; the same bits.
void find_pairs(const IcpScale& scale, const RigidTransform& pose, double limit_m, IcpQueries queries,
                IcpPairs& pairs, OpContext& ctx, const IcpGpu* gpu = nullptr);

/// Drops pairs beyond the limit, and pairs whose partner was found on the rim of its side: the rest of that surface was
/// not scanned.
void narrow_pairs(const IcpScale& scale, double limit_m, IcpPairs& pairs, OpContext& ctx);

/// The distance of a moving point to its partner that the given share of the moving points does not exceed; infinite if
/// fewer have one.
double pair_distance(const IcpScale& scale, const IcpPairs& pairs, double share, OpContext& ctx);

}  // namespace pc

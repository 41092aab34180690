#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/gpu_run.h"
#include "core/op_context.h"
#include "core/span.h"
#include "ops/lad/beam_rows.h"
#include "ops/lad/beam_sums_kernel.h"

namespace pc {

/// Sums of beams over voxels on the GPU, if the context asks for it. The results have the same bits as the CPU's: the parts of
/// the beams are sorted by voxel, in the order of the beams, before they are summed up.
class BeamSumsDevice {
 public:
  /// grid        its lists must outlive this object
  /// with_reach  ReachSums are wanted
  /// warnings    gets the reason if the CPU must sum up; must outlive this object
  BeamSumsDevice(const beam_sums_kernel::Grid& grid, bool with_reach, OpContext& ctx,
                 std::vector<std::string>& warnings);

  bool usable() const { return opened_ != nullptr; }
  /// Sums up some beams and compares them with what the CPU gets; then begins anew. False: the CPU must sum up.
  bool try_out(const BeamRows& rows, Span<const std::uint32_t> pulses);
  /// Adds beams in their order and advances the context by their number. False: the CPU must sum up, from the first beam on.
  bool add(const BeamRows& rows, Span<const std::uint32_t> pulses);
  /// Writes the sums of all voxels, (cells) each; `reach` is nullptr without ReachSums. False: the CPU must sum up.
  bool read(VoxelSums* sums, ReachSums* reach);

 private:
  bool open();
  bool add_batch(const BeamRows& rows, Span<const std::uint32_t> pulses);

  const beam_sums_kernel::HostGrid grid_;
  OpContext& ctx_;
  GpuRun gpu_;
  std::unique_ptr<void, void (*)(void*)> opened_;
};

}  // namespace pc

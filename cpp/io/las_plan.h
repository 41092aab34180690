#pragma once
#include "io/las_encode.h"

/// The writer's decisions before the first record; not part of the interface of las.h.
namespace pc::io::las {

/// Decides the point format and where every column goes. Appends to result.warnings.
RecordPlan plan_record(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                       LasWriteResult& result, OpContext& ctx);

/// What the written coordinates are like.
struct Extent {
  Box3d box;
  bool on_grid[3] = {true, true, true};  ///< every one is a step of params.grid
};

/// Errors  kInvalidArgument naming the first row found with a coordinate that is not finite.
Extent written_extent(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                      OpContext& ctx);

/// Sets scale and offset of the file: the grid where it holds every coordinate, else params.scale_m from floor(min) on,
/// coarser tenfold until 32 bits hold the range (with a warning).
void choose_steps(const Extent& extent, const LasWriteParams& params, LasWriteResult& result);

}  // namespace pc::io::las

#pragma once
#include "io/las_encode.h"

/// Decisions of the writer before the first record; not part of the interface of las.h.
namespace pc::io::las {

/// Chooses the point format and the position of every column. Appends to result.warnings.
RecordPlan plan_record(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                       LasWriteResult& result, OpContext& ctx);

/// Properties of the written coordinates.
struct Extent {
  Box3d box;
  bool on_grid[3] = {true, true, true};  ///< every coordinate is a step of params.grid
};

/// Errors  kInvalidArgument, with the first row found that has a coordinate that is not finite.
Extent written_extent(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                      OpContext& ctx);

/// Sets scale and offset of the file: the grid if it can represent every coordinate; otherwise params.scale_m from
/// floor(min) on, enlarged tenfold until 32 bits hold the range (with a warning).
void choose_steps(const Extent& extent, const LasWriteParams& params, LasWriteResult& result);

}  // namespace pc::io::las

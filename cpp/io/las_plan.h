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
  double multiple_of[3] = {0, 0, 0};  ///< step of which every coordinate is a multiple; 0 = none, or on_grid
  double spacing = 0;  ///< typical distance of neighbouring points, estimated; 0 = unknown, or on_grid
};

/// Errors  kInvalidArgument, with the first row found that has a coordinate that is not finite.
Extent written_extent(const CloudView& view, const LasWriteParams& params, const RowBlocks& blocks,
                      OpContext& ctx);

/// Sets scale and offset of the file, axis by axis, as write_las states under "Steps".
void choose_steps(const CloudView& view, const Extent& extent, const LasWriteParams& params,
                  const RowBlocks& blocks, LasWriteResult& result, OpContext& ctx);

}  // namespace pc::io::las

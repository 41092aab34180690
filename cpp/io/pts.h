#pragma once
#include <cstdint>
#include <string>

#include "core/op_context.h"
#include "io/cloud_view.h"

namespace pc::io {

struct PtsWriteResult {
  std::uint64_t rows = 0;   ///< points written
  std::uint64_t bytes = 0;  ///< size of the file
  bool colors_cut = false;  ///< a written colour has a channel that 8 bits change
};

/// Writes the selected rows of a view as PTS (Leica Cyclone): the number of points, then one line "x y z intensity r g
/// b" per point.
///
/// Numbers  Positions + view.offset with 6 decimals. Intensity u16 0..65535 -> -2048..2047, rounded; 0 without
///          intensity. Colour is the high byte of the u16; 0 0 0 ("no colour" in this format) without colour.
/// Order    Row order; the bytes do not depend on threads.
/// Cost     O(rows) time; a few MiB per thread.
/// Cancel   Within 50 ms; the file is then incomplete, as after any error.
/// Errors   kInvalidArgument (column lengths, stride 0), kNoSpace, kIo.
/// Source   PTS as exported by Leica Cyclone: point count, then seven values per line, intensity in 12 bits.
PtsWriteResult write_pts(const CloudView& view, const std::string& path, OpContext& ctx);

}  // namespace pc::io

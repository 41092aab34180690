#pragma once
#include <cstdint>

#include "core/op_context.h"
#include "core/platform.h"
#include "io/las_encode.h"

namespace pc::io::laz {

struct LazWritten {
  las::ReturnCounts returns{};
  std::uint64_t bytes = 0;  ///< of the point data: position of the chunk table, chunks, chunk table
};

/// Writes the rows of a view as compressed points from byte `points_offset` on: chunks of chunk_rows_for() points,
/// then the chunk table. Called by write_las.
///
/// Order    The bytes do not depend on threads: chunks are written in their order.
/// Cost     O(points x fields) time. Memory: records, compressed bytes and models of one chunk per thread (at most 16
///          MiB each), and 4 bytes per chunk.
/// Cancel   Within 1024 points per thread.
/// Errors   kUnsupported for more than 2048 extra bytes per point; kIo, kNoSpace, kCanceled.
LazWritten write_points(const CloudView& view, const las::RecordPlan& plan, const las::RowBlocks& blocks,
                        const Vec3d& scale, const Vec3d& offset, std::uint64_t points_offset,
                        platform::File& file, OpContext& ctx);

}  // namespace pc::io::laz

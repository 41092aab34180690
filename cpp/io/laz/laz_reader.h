#pragma once
#include "core/op_context.h"
#include "core/platform.h"
#include "io/las_format.h"

namespace pc::io::laz {

/// Reads the points of a LAZ file: formats 0 to 10, all item versions, pointwise, in chunks and in layers. Called by
/// read_las, whose rows, columns and limits apply. Sets header.present_point_count to the number of points found and
/// appends warnings.
///
/// All threads decode chunks; of layered chunks only the layers that the wanted columns and the positions need. Files
/// whose chunks cannot be found (no chunk table: cut off, or LASzip 1) are decoded from the start by one thread.
///
/// Rows     A file that ends early gives the complete points before its end (layered: complete chunks) and a warning.
/// Order    Does not depend on threads.
/// Cost     O(points x fields) time. Memory: the columns, and per thread decoder state (at most 6 MiB) and the
///          compressed chunk (layered: its layers). Columns beyond 32 MiB + 8 times the file size are allocated only as
///          decoding proves that the points exist.
/// Cancel   Within 2048 points per thread.
/// Errors   kInvalidFile: no LASzip record, items that do not fit the point format, no complete point, a chunk that
///          ends before its points do; kUnsupported: other compressors, coders and item versions, more than 2048 extra
///          bytes per point, chunks of different sizes without a table; kCanceled.
/// Source   LASzip specification; the parts name their sections.
CloudTable read_laz(const platform::File& file, las::Opened& opened, const LasReadParams& params,
                    OpContext& ctx);

}  // namespace pc::io::laz

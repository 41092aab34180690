#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/platform.h"
#include "io/ply.h"

namespace pc::io {

/// Vertex lists of the faces of a PLY file.
struct PlyFaces {
  BulkVector<std::uint32_t> corners;  ///< kNoIndex for a value that is no index
  BulkVector<std::uint64_t> firsts;   ///< (F + 1) first corner of each face that could be read
  std::uint64_t unread_count = 0;     ///< rows of text that could not be read
  std::uint64_t first_unread_line = 0;
};

/// Reads the list `list` of every row of `header.elements[element]`; stops where the file ends.
/// Cancel within 50 ms. Errors: kInvalidFile for a negative count, kUnsupported beyond kMaxFaceCorners.
PlyFaces read_ply_faces(const platform::File& file, const PlyHeader& header, std::size_t element,
                        std::size_t list, OpContext& ctx);

/// Throws kUnsupported.
[[noreturn]] void fail_face_corners(const std::string& path, std::uint64_t corners);

}  // namespace pc::io

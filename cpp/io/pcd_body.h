#pragma once
#include <cstdint>

#include "core/memory.h"
#include "io/pcd.h"

/// The bodies of PCD files.
namespace pc::io {

/// A 4-byte field "rgb" or "rgba": packed colour, whatever its type says.
bool is_packed_color(const PcdField& field);

/// The unpacked body of a binary_compressed file: one array per field. Nothing is allocated for the output before the
/// compressed data have proven that they hold it.
struct PcdBody {
  BulkVector<std::byte> bytes;
  bool padded = false;  ///< the padding fields are in it
};
PcdBody unpack_body(const platform::File& file, const PcdHeader& header, OpContext& ctx);

}  // namespace pc::io

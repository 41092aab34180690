#pragma once
#include <cstdint>

#include "core/memory.h"
#include "io/pcd.h"

/// The bodies of PCD files.
namespace pc::io {

/// True for a 4-byte field "rgb" or "rgba", which is packed colour for any type.
bool is_packed_color(const PcdField& field);

/// The decoded body of a binary_compressed file: one array per field. The output is allocated only after the compressed
/// data were checked to decode to it.
struct PcdBody {
  BulkVector<std::byte> bytes;
  bool padded = false;  ///< contains the padding fields
};
PcdBody unpack_body(const platform::File& file, const PcdHeader& header, OpContext& ctx);

}  // namespace pc::io

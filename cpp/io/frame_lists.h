#pragma once
#include <cstddef>
#include <cstdint>

#include "core/op_context.h"
#include "core/vec3.h"
#include "io/json_lists.h"

namespace pc::io {

/// A buffer of a PHB1 frame (docs/wire.md) that holds a list of a request.
struct FrameBuffer {
  JsonShape::Kind kind;  ///< kPoints, kNumbers or kHeights
  bool is_float;         ///< float32, otherwise uint32
  std::size_t offset;    ///< of its first byte, need not be aligned
  std::uint64_t count;   ///< elements of 4 bytes; points have three each
  Vec3d origin;          ///< kPoints: added in float64; finite
};

/// Reads a buffer into the column that read_json_lists makes of the same list in JSON.
///
/// bytes    the whole frame, little-endian
/// Values   Not valid: a count of points that is no multiple of three, an infinite value, NaN (kHeights: a void).
/// Order    Row order; the result does not depend on threads.
/// Cost     O(count) time, 8 bytes per element. Cancel within 250 ms.
/// Errors   kInvalidArgument: the buffer ends behind the frame, a kind without buffers.
JsonList read_frame_list(Span<const std::byte> bytes, const FrameBuffer& buffer, OpContext& ctx);

}  // namespace pc::io

#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/op_context.h"
#include "core/span.h"

namespace pc::io {

/// Size of the decoded stream in bytes. Checks every run and back reference without decoding, in O(in.size) time
/// without memory, so that a false header is detected before anything is allocated.
///
/// The stream is a sequence of runs; the first byte c of a run gives its kind:
///   c < 32    literal: c + 1 bytes follow and are copied
///   c >= 32   copy: length (c >> 5) + 2, plus one more byte when c >> 5 == 7; distance ((c & 31) << 8 | next byte) + 1
///             back in the output; source and target may overlap
/// Source  LibLZF's documented format (Lehmann, lzf.h and lzf_d.c comments); PCL writes PCD bodies with it.
/// Errors  kInvalidFile with `what` and the byte of the stream where a run is cut off or refers back too far.
std::uint64_t lzf_decoded_size(Span<const std::byte> in, const std::string& what, OpContext& ctx);

/// Decodes a stream into `out`, whose size is lzf_decoded_size(in). Same errors; never reads or writes outside.
/// Cost    O(out.size) time, at most 88 times in.size.
void lzf_decode(Span<const std::byte> in, Span<std::byte> out, const std::string& what, OpContext& ctx);

}  // namespace pc::io

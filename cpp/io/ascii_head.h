#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/platform.h"

namespace pc::io {

/// The first bytes of a text file, checked to be text.
struct TextHead {
  BulkVector<char> bytes;   ///< from the start of the file, line ends as they are
  std::uint64_t start = 0;  ///< first byte of text, after a UTF-8 byte order mark
  bool cr_lines = false;    ///< lines end with a lone CR
};

/// Reads the head of the file: 1 MiB, or up to the first line end if that comes later.
/// Errors: kInvalidFile for UTF-16 and UTF-32, NUL bytes, and a first line beyond kMaxTextLineBytes.
TextHead read_text_head(const platform::File& file, OpContext& ctx);

}  // namespace pc::io

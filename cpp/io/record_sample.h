#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/platform.h"

/// The first rows of a record file as text, for previews.
namespace pc::io {

/// The scalar at `from` (unaligned) as the shortest decimal text that reads back as the same value,
/// without an exponent for usual magnitudes.
std::string scalar_text(const std::byte* from, DType type, bool swap_bytes);

/// Words of the first `max_rows` non-blank lines after `skip_rows` of them. Reads only the first 16 MiB of the body.
std::vector<std::vector<std::string>> first_lines(const platform::File& file, std::uint64_t offset,
                                                  char line_end, std::uint64_t skip_rows,
                                                  std::uint64_t max_rows);

}  // namespace pc::io

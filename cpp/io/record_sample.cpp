#include "io/record_sample.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "io/header_lines.h"
#include "io/record_lines.h"
#include "io/scalar_bytes.h"

namespace pc::io {

namespace {
constexpr std::size_t kMostChunks = 64;
}  // namespace

std::string scalar_text(const std::byte* from, DType type, bool swap_bytes) {
  char text[32];
  char* end = text;
  with_type(type, [&](auto sample) {
    using T = decltype(sample);
    const T value = swap_bytes ? load<T, true>(from) : load<T, false>(from);
    if constexpr (std::is_floating_point_v<T>) {
      const bool plain = value == 0 || (std::abs(value) >= T(1e-5) && std::abs(value) < T(1e15));
      end = plain ? std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr
                  : std::to_chars(text, text + sizeof text, value).ptr;
    } else {
      end = std::to_chars(text, text + sizeof text, value).ptr;
    }
  });
  return {text, end};
}

std::vector<std::vector<std::string>> first_lines(const platform::File& file, std::uint64_t offset,
                                                  char line_end, std::uint64_t skip_rows,
                                                  std::uint64_t max_rows) {
  std::vector<std::vector<std::string>> rows;
  const std::size_t chunks = std::min(RecordLines::count(file, offset), kMostChunks);
  RecordLines chunk;
  for (std::size_t index = 0; index < chunks && rows.size() < max_rows; ++index) {
    chunk.load(file, offset, line_end, index);
    for (const char* p = chunk.begin(); p != chunk.end() && rows.size() < max_rows;) {
      const char* const end = std::find(p, chunk.end(), line_end);
      std::vector<std::string> words = split_words(std::string(p, end));
      p = end == chunk.end() ? end : end + 1;
      if (words.empty()) continue;
      if (skip_rows != 0) {
        --skip_rows;
        continue;
      }
      rows.push_back(std::move(words));
    }
  }
  return rows;
}

}  // namespace pc::io

#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "core/platform.h"
#include "io/ascii_lines.h"
#include "io/ptx.h"
#include "io/record_value.h"

namespace pc::io::ptx {

inline constexpr std::uint64_t kChunkBytes = std::uint64_t{256} << 10;
inline constexpr std::uint64_t kHeaderLines = 10;
inline constexpr std::size_t kMaxHeaderLine = 4096;
inline constexpr std::size_t kMaxScans = 65535;  // scan_index is 16 bits wide

/// One line of a header.
struct HeaderLine {
  std::string text;
  std::uint64_t number = 0;  ///< in the file, counted from 1
};

/// Reads a header; next(k) returns its line k (0 .. 9). Errors: kInvalidFile with the line that violates the format.
PtxScan parse_header(const std::string& path, const std::function<HeaderLine(std::uint64_t)>& next);

inline bool is_blank_line(const char* p, const char* end) { return record_value::skip_blanks(p, end) == end; }

/// A scan and the position of its cells among the non-blank lines.
struct ScanLines {
  PtxScan header;
  std::uint64_t first_cell = 0;  ///< ordinal of its first cell's line
  std::uint64_t cells = 0;       ///< number of cells present
  std::uint64_t first_row = 0;   ///< in the table, if it is read
  bool wanted = true;
};

/// The non-blank lines of a PTX file, and its scans.
struct FileLayout {
  std::vector<std::uint64_t> before;        ///< per chunk, non-blank lines before it; last the total
  std::vector<std::uint64_t> lines_before;  ///< per chunk, lines before it; last the total
  std::vector<ScanLines> scans;
  std::vector<std::string> warnings;
};

/// Counts the lines in parallel, then finds every header. Errors as read_ptx.
FileLayout read_layout(const platform::File& file, const LineSource& source, OpContext& ctx);

/// Length of a byte order mark at the start, and whether lines end with CR alone.
struct TextStart {
  std::uint64_t data_start;
  bool cr_lines;
};
TextStart find_start(const platform::File& file);

/// Calls line(first, end, line number within the text) for each line of `text`, which ends with '\n'; `end` points to
/// the '\n'.
template <class Line>
void for_each_line(Span<const char> text, std::uint64_t number, Line&& line) {
  for (const char* p = text.begin(); p < text.end();) {
    const char* const end =
        static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(text.end() - p)));
    line(p, end, number++);
    p = end + 1;
  }
}

}  // namespace pc::io::ptx

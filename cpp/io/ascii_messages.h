#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/ascii_rows.h"
#include "io/ascii_table.h"

/// Messages of read_text; in a file of their own because most of them are rarely needed.
namespace pc::io {

/// The data for the messages about one file.
struct TextReport {
  const std::string& path;
  const TextReadParams& params;
  const std::vector<std::size_t>& order;  ///< params.columns sorted by index
  const RowSummary& summary;
  std::uint64_t rows;                              ///< kept
  const std::vector<std::uint64_t>& lines_before;  ///< physical lines before each chunk
};

/// Throws kInvalidFile if no row was kept or no row has a requested column.
void require_rows(const TextReport& report);

/// True if file column `c` (position in `order`) contains no number.
bool has_no_numbers(const TextReport& report, std::size_t c);

/// One warning per kind of problem: what it was, where, and what was done.
std::vector<std::string> text_warnings(const TextReport& report);

}  // namespace pc::io

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/ascii_rows.h"
#include "io/ascii_table.h"

/// What read_text tells the user; kept apart because most of it is never needed.
namespace pc::io {

/// Everything the messages about one file are made of.
struct TextReport {
  const std::string& path;
  const TextReadParams& params;
  const std::vector<std::size_t>& order;  ///< params.columns sorted by index
  const RowSummary& summary;
  std::uint64_t rows;                              ///< kept
  const std::vector<std::uint64_t>& lines_before;  ///< physical lines before each chunk
};

/// Throws kInvalidFile when no row was kept or a requested column is beyond every row.
void require_rows(const TextReport& report);

/// True when file column `c` (position in `order`) has no number at all.
bool has_no_numbers(const TextReport& report, std::size_t c);

/// What was odd, where, what was done.
std::vector<std::string> text_warnings(const TextReport& report);

}  // namespace pc::io

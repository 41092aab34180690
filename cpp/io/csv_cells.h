#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace pc::io {

/// Splits text into rows of cells. A cell may be quoted (RFC 4180: "" inside is one quote, separators and line ends belong
/// to it); blanks around cells do not count. Lines end with LF, CR LF or CR.
class CsvCells {
 public:
  CsvCells(std::string_view text, char separator) : text_(text), separator_(separator) {}

  /// Reads the next row into cells(); false at the end. Throws kInvalidFile for a quoted cell without an end.
  bool next();
  const std::vector<std::string_view>& cells() const { return cells_; }  ///< valid until the next call
  std::uint64_t row() const { return row_; }                             ///< from 1, blank rows too
  bool blank() const;                                                    ///< all cells are empty

 private:
  std::string_view quoted_cell();

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::uint64_t row_ = 0;
  std::vector<std::string_view> cells_;
  std::deque<std::string> unescaped_;
};

/// The separator of a table by its header: comma, semicolon or tab, whichever it has most often outside of quotes.
char sniffed_separator(std::string_view text);

}  // namespace pc::io

#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "io/ascii_columns.h"
#include "io/ascii_plain_rows.h"
#include "io/ascii_table.h"
#include "io/decimal.h"

namespace pc::io {

/// How often a problem occurred, and where first.
struct Oddity {
  std::uint64_t count = 0;
  LineRef first;

  void add(const LineRef& line) {
    if (count++ == 0) first = line;
  }
  void merge(const Oddity& other) {
    count += other.count;
    first = std::min(first, other.first);
  }
};

/// Properties of the rows of a file; one object per worker, merged in any order.
struct RowSummary {
  static constexpr std::size_t kLinesNamed = 5;

  Oddity malformed, nonfinite, comments, short_rows, long_rows;
  std::vector<LineRef> malformed_lines;       ///< the first kLinesNamed
  std::uint32_t first_short_columns = 0;      ///< columns of short_rows.first
  std::uint32_t first_malformed_columns = 0;  ///< columns of malformed.first
  std::size_t reached = 0;                    ///< requested columns that some kept row has
  std::vector<std::uint64_t> rows_by_reach;   ///< kept short rows by number of requested columns they have
  std::vector<ColumnStats> columns;           ///< by file column

  void merge(const RowSummary& other);
};

/// Limit of the memory that all parsers of a file may fill with packed rows.
struct StoreBudget {
  StoreBudget(std::uint64_t limit, std::string file_path) : bytes_left(limit), path(std::move(file_path)) {}
  /// Throws too_sparse if less than `bytes` is left.
  void take(std::uint64_t bytes);

  std::atomic<std::uint64_t> bytes_left;
  std::string path;
};

/// The error for a table whose missing values would take far more memory than the text of the file.
Error too_sparse(const std::string& path);

/// Rows of one chunk of text: the positions and, packed, the values of the other columns.
struct ChunkRows {
  std::uint64_t rows = 0;
  std::uint64_t lines = 0;
  BulkVector<Vec3d> positions;  ///< the first `rows`; the rest has no meaning
  PackedRows packed;
};

/// Parses whole lines of a text table. One per worker.
class RowParser {
 public:
  /// `order` sorts params.columns by index. All three outlive the parser.
  RowParser(const TextReadParams& params, const std::vector<std::size_t>& order, StoreBudget& budget);

  /// Parses whole lines; the last byte is '\n', and kTextPadding readable bytes follow. Stops after `row_limit` kept
  /// rows. `positions` is the buffer for the result, of any size.
  ChunkRows parse(Span<const char> lines, std::uint64_t chunk, std::uint64_t row_limit,
                  BulkVector<Vec3d>&& positions, OpContext& ctx);

  const RowSummary& summary() const { return summary_; }

 private:
  enum CharClass : std::uint8_t { kBlank = 1, kDelimiter = 2 };
  struct BadField {
    std::size_t column;
    std::string_view text;
    bool rounded;
  };

  template <bool kWhitespace>
  void parse_lines(const char* p, const char* end, std::uint64_t row_limit, OpContext& ctx);
  const char* parse_plain_rows(const char* p, const char* end, std::uint64_t row_limit);
  template <bool kWhitespace>
  const char* parse_row(const char* p);
  template <bool kWhitespace>
  const char* slow_field(const char* p, std::int32_t target);
  template <bool kWhitespace>
  const char* field_end(const char* p, std::string_view& content) const;
  template <bool kWhitespace>
  const char* after_number(const char* p) const;

  const char* skip_blanks(const char* p) const {
    while (classes_[static_cast<unsigned char>(*p)] & kBlank) ++p;
    return p;
  }
  static bool at_line_end(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }
  double& value(std::int32_t target) {
    return values_[static_cast<std::size_t>(target) * capacity_ + batch_.rows];
  }
  void store(std::int32_t target, const Decimal& number);
  void end_row(const char* line, const char* line_end, std::uint32_t columns);
  void reach(std::size_t written);
  void widen(std::size_t written, std::size_t rows);
  void make_room();
  void flush(OpContext& ctx);
  LineRef here() const { return {chunk_, line_}; }

  const TextReadParams& params_;
  StoreBudget& budget_;
  char point_;
  char delimiter_;
  std::array<std::uint8_t, 256> classes_{};
  std::vector<std::int32_t> targets_;        ///< file column -> index in values_, -1 = not wanted
  std::vector<std::size_t> columns_before_;  ///< file columns read -> requested columns among them
  std::uint32_t position_columns_;           ///< columns that a row needs for x, y and z
  std::size_t capacity_;
  BulkVector<double> values_;    ///< x, y, z, then the requested columns in file order; column-major
  BulkVector<Vec3d> positions_;  ///< of the chunk
  RowBatch batch_;
  PackedRows packed_;
  RowSummary summary_;
  std::vector<BadField> bad_fields_;  ///< of the current row
  bool bad_position_ = false;
  std::uint64_t chunk_ = 0, line_ = 0, kept_ = 0;
  PlainRowParser plain_rows_;  ///< nullptr if there is none
  std::uint32_t plain_wait_ = 0,
                plain_misses_ = 0;  ///< lines to the next attempt; the last time that it failed
};

}  // namespace pc::io

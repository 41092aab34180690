#include "io/ascii_messages.h"

namespace pc::io {

namespace {

constexpr std::size_t kColumnsNamed = 20;  // keeps the list readable for files with thousands of odd columns

std::string line_number(const TextReport& report, const LineRef& ref) {
  return std::to_string(report.lines_before[ref.chunk] + ref.line + 1);
}

std::string column_label(const TextColumn& column) {
  return "column " + std::to_string(column.index + 1) + " ('" + column.name + "')";
}

const TextColumn& file_column(const TextReport& report, std::size_t c) {
  return report.params.columns[report.order[c]];
}

std::string counted(std::uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string malformed_lines(const TextReport& report) {
  std::string list;
  for (const LineRef& ref : report.summary.malformed_lines) {
    list += (list.empty() ? "" : ", ") + line_number(report, ref);
  }
  const bool more = report.summary.malformed.count > report.summary.malformed_lines.size();
  return (report.summary.malformed.count == 1 ? "line " : "lines ") + list + (more ? ", ..." : "");
}

void row_warnings(const TextReport& report, std::vector<std::string>& warnings) {
  const RowSummary& s = report.summary;
  if (s.malformed.count != 0) {
    warnings.push_back(counted(s.malformed.count, "row") + " dropped: x, y or z missing or not a number (" +
                       malformed_lines(report) + ")");
  }
  if (s.nonfinite.count != 0) {
    warnings.push_back(counted(s.nonfinite.count, "row") +
                       " dropped: x, y or z is NaN or infinite (first on line " +
                       line_number(report, s.nonfinite.first) + ")");
  }
  const std::string expected = std::to_string(report.params.expected_columns);
  if (s.short_rows.count != 0) {
    warnings.push_back(counted(s.short_rows.count, "row") + " with fewer than " + expected +
                       " columns (first on line " + line_number(report, s.short_rows.first) +
                       "): the missing values are NaN");
  }
  if (s.long_rows.count != 0) {
    warnings.push_back(counted(s.long_rows.count, "row") + " with more than " + expected +
                       " columns (first on line " + line_number(report, s.long_rows.first) +
                       "): the surplus is ignored");
  }
  if (s.comments.count != 0) {
    warnings.push_back(counted(s.comments.count, "comment line") +
                       " among the data left out (first on line " + line_number(report, s.comments.first) +
                       ")");
  }
}

/// The warning about one column, or an empty string.
std::string column_warning(const TextReport& report, std::size_t c) {
  const ColumnStats& stats = report.summary.columns[c];
  const std::string label = column_label(file_column(report, c));
  const std::string shown = stats.not_number_text.empty() ? "empty" : "'" + stats.not_number_text + "'";
  const std::string where =
      stats.not_numbers == 0
          ? ""
          : " (first on line " + line_number(report, stats.first_not_number) + ": " + shown + ")";
  if (has_no_numbers(report, c)) return label + " left out: it holds no numbers" + where;
  std::string text;
  if (stats.not_numbers != 0) {
    text =
        label + ": " + counted(stats.not_numbers, "value") + " empty or not a number, stored as NaN" + where;
  }
  if (stats.rounded != 0) {
    text += (text.empty() ? label + ": " : "; ") + counted(stats.rounded, "whole number") +
            " beyond 2^53 rounded to float64 (first on line " + line_number(report, stats.first_rounded) +
            ")";
  }
  return text;
}

/// Number of kept rows that are too short for file column `c`.
std::uint64_t rows_without(const RowSummary& summary, std::size_t c) {
  std::uint64_t rows = 0;
  for (std::size_t reach = 0; reach <= c; ++reach) rows += summary.rows_by_reach[reach];
  return rows;
}

}  // namespace

void require_rows(const TextReport& report) {
  const RowSummary& s = report.summary;
  if (report.rows == 0) {
    std::string why = "there is no data after line " + std::to_string(report.params.skip_lines);
    if (s.malformed.count != 0) {
      why = "line " + line_number(report, s.malformed.first) + " has " +
            counted(s.first_malformed_columns, "column") + ", but x, y and z must be numbers in columns " +
            std::to_string(report.params.x_index + 1) + ", " + std::to_string(report.params.y_index + 1) +
            " and " + std::to_string(report.params.z_index + 1) +
            "; check the delimiter and the column roles";
    } else if (s.nonfinite.count != 0) {
      why = "every position is NaN or infinite, first on line " + line_number(report, s.nonfinite.first);
    }
    throw Error(ErrorCode::kInvalidFile, report.path + ": no valid rows: " + why);
  }
  if (s.reached < report.params.columns.size()) {
    throw Error(ErrorCode::kInvalidFile,
                report.path + ": " + column_label(file_column(report, s.reached)) +
                    " is declared, but line " + line_number(report, s.short_rows.first) + " has only " +
                    counted(s.first_short_columns, "column") +
                    " and no row has more that far; correct the column plan, the legend or the header");
  }
}

bool has_no_numbers(const TextReport& report, std::size_t c) {
  return report.summary.columns[c].not_numbers + rows_without(report.summary, c) == report.rows;
}

std::vector<std::string> text_warnings(const TextReport& report) {
  std::vector<std::string> warnings;
  row_warnings(report, warnings);
  std::size_t odd_columns = 0;
  for (std::size_t c = 0; c < report.order.size(); ++c) {
    const std::string text = column_warning(report, c);
    if (text.empty()) continue;
    if (++odd_columns <= kColumnsNamed) warnings.push_back(text);
  }
  if (odd_columns > kColumnsNamed) {
    warnings.push_back(std::to_string(odd_columns - kColumnsNamed) +
                       " more columns have values that are not numbers");
  }
  return warnings;
}

}  // namespace pc::io

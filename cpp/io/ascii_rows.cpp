#include "io/ascii_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

namespace pc::io {

namespace {

constexpr std::int32_t kUnwanted = -1;
constexpr std::int32_t kFirstColumn = 3;  // indices 0, 1, 2 are x, y, z
constexpr double kTwo53 = 9007199254740992.0;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Values parsed between two cancel checks and packed together: few enough for the second-level cache.
constexpr std::size_t kBatchValues = 1 << 15;
constexpr std::size_t kMaxBatchRows =
    2000;  // not a power of two: columns of a batch fall into different cache sets

char delimiter_char(TextDelimiter delimiter) {
  switch (delimiter) {
    case TextDelimiter::kComma:
      return ',';
    case TextDelimiter::kSemicolon:
      return ';';
    case TextDelimiter::kTab:
      return '\t';
    case TextDelimiter::kWhitespace:
      return ' ';
  }
  return ' ';
}

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 24)) result += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > 24 ? result + "..." : result;
}

/// True if `text` is a plain whole number that a double cannot represent; `value` is its rounded value.
bool loses_digits(std::string_view text, double value) {
  if (!(std::fabs(value) >= kTwo53) || !std::isfinite(value)) return false;
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  std::uint64_t whole = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (read.ec != std::errc()) return true;
  const double magnitude = std::fabs(value);
  return magnitude >= 18446744073709551616.0 || static_cast<std::uint64_t>(magnitude) != whole;
}

}  // namespace

Error too_sparse(const std::string& path) {
  return Error(
      ErrorCode::kInvalidFile,
      path +
          ": the rows lack most of the declared columns, and filling the holes would take more than 20 times "
          "the size of the file; declare only the columns that the rows have");
}

void StoreBudget::take(std::uint64_t bytes) {
  std::uint64_t left = bytes_left.load();
  do {
    if (bytes > left) throw too_sparse(path);
  } while (!bytes_left.compare_exchange_weak(left, left - bytes));
}

void RowSummary::merge(const RowSummary& other) {
  if (other.short_rows.first < short_rows.first) first_short_columns = other.first_short_columns;
  if (other.malformed.first < malformed.first) first_malformed_columns = other.first_malformed_columns;
  malformed.merge(other.malformed);
  nonfinite.merge(other.nonfinite);
  comments.merge(other.comments);
  short_rows.merge(other.short_rows);
  long_rows.merge(other.long_rows);
  malformed_lines.insert(malformed_lines.end(), other.malformed_lines.begin(), other.malformed_lines.end());
  std::sort(malformed_lines.begin(), malformed_lines.end());
  if (malformed_lines.size() > kLinesNamed) malformed_lines.resize(kLinesNamed);
  reached = std::max(reached, other.reached);
  for (std::size_t i = 0; i < rows_by_reach.size(); ++i) rows_by_reach[i] += other.rows_by_reach[i];
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].merge(other.columns[i]);
}

RowParser::RowParser(const TextReadParams& params, const std::vector<std::size_t>& order, StoreBudget& budget)
    : params_(params),
      budget_(budget),
      point_(params.decimal_comma ? ',' : '.'),
      delimiter_(delimiter_char(params.delimiter)),
      position_columns_(std::max({params.x_index, params.y_index, params.z_index}) + 1),
      plain_rows_(plain_row_parser(params.delimiter)) {
  const std::size_t count = params.columns.size();
  std::uint32_t needed = position_columns_;
  if (count != 0) needed = std::max(needed, params.columns[order.back()].index + 1);
  targets_.assign(needed, kUnwanted);
  targets_[params.x_index] = 0;
  targets_[params.y_index] = 1;
  targets_[params.z_index] = 2;
  for (std::size_t i = 0; i < count; ++i) {
    targets_[params.columns[order[i]].index] = kFirstColumn + static_cast<std::int32_t>(i);
  }
  columns_before_.assign(needed + 1, 0);
  for (std::size_t i = 0; i < needed; ++i)
    columns_before_[i + 1] = columns_before_[i] + (targets_[i] >= kFirstColumn);

  classes_[' '] |= kBlank;
  if (params.delimiter != TextDelimiter::kTab) classes_['\t'] |= kBlank;
  if (params.delimiter != TextDelimiter::kWhitespace)
    classes_[static_cast<unsigned char>(delimiter_)] |= kDelimiter;

  capacity_ = std::clamp<std::size_t>(kBatchValues / (count + 3), 1, kMaxBatchRows);
  values_.resize((count + 3) * capacity_);
  batch_ = {values_.view().subspan(3 * capacity_, count * capacity_), capacity_, 0, count, 0};
  summary_.columns.resize(count);
  summary_.rows_by_reach.resize(count + 1);
}

ChunkRows RowParser::parse(Span<const char> lines, std::uint64_t chunk, std::uint64_t row_limit,
                           BulkVector<Vec3d>&& positions, OpContext& ctx) {
  chunk_ = chunk;
  line_ = 0;
  kept_ = 0;
  positions_ = std::move(positions);
  make_room();
  if (params_.delimiter == TextDelimiter::kWhitespace) {
    parse_lines<true>(lines.begin(), lines.end(), row_limit, ctx);
  } else {
    parse_lines<false>(lines.begin(), lines.end(), row_limit, ctx);
  }
  flush(ctx);
  ChunkRows result;
  result.rows = kept_;
  result.lines = line_;
  result.positions = std::move(positions_);
  result.packed = std::exchange(packed_, {});
  return result;
}

template <bool kWhitespace>
void RowParser::parse_lines(const char* p, const char* end, std::uint64_t row_limit, OpContext& ctx) {
  while (p < end && kept_ < row_limit) {
    if (plain_rows_ != nullptr) {
      p = parse_plain_rows(p, end, row_limit);
      if (batch_.rows == capacity_) {
        flush(ctx);
        continue;
      }
      if (p == end || kept_ == row_limit) break;
    }
    p = skip_blanks(p);
    if (at_line_end(p)) {
      p += *p == '\n' ? 1 : 2;
    } else if (*p == '#' || (*p == '/' && p[1] == '/')) {
      summary_.comments.add(here());
      p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
    } else {
      p = parse_row<kWhitespace>(p);
      if (batch_.rows == capacity_) flush(ctx);
    }
    ++line_;
  }
}

/// Parses rows until one needs parse_row, or nothing if that is likely: attempts get rarer while they fail.
const char* RowParser::parse_plain_rows(const char* p, const char* end, std::uint64_t row_limit) {
  constexpr std::uint32_t kMostWait = 63;
  if (plain_wait_ != 0) {
    --plain_wait_;
    return p;
  }
  const std::size_t before = batch_.rows;
  const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(capacity_ - before, row_limit - kept_));
  const PlainLayout layout{
      {targets_.data(), targets_.size()}, params_.expected_columns, point_, delimiter_, params_.frame};
  PlainBatch batch{values_.data(),         capacity_, before, before + room, positions_.data() + kept_,
                   summary_.columns.data()};
  p = plain_rows_(p, end, layout, batch);
  const std::size_t rows = batch.row - before;
  plain_wait_ = plain_misses_ = rows != 0 ? 0 : std::min(2 * plain_misses_ + 1, kMostWait);
  if (rows == 0) return p;
  widen(batch_.columns, before);
  summary_.reached = batch_.columns;
  batch_.rows = batch.row;
  line_ += rows;
  kept_ += rows;
  return p;
}

/// Position after a number: the next field (whitespace), delimiter or line end; nullptr if the field continues.
template <bool kWhitespace>
const char* RowParser::after_number(const char* p) const {
  const char* const after = skip_blanks(p);
  if (at_line_end(after)) return after;
  if constexpr (kWhitespace) {
    return after != p ? after : nullptr;
  } else {
    return classes_[static_cast<unsigned char>(*after)] & kDelimiter ? after : nullptr;
  }
}

/// Reads the field at `p`, without quotes and outer blanks; returns the same position as after_number would.
template <bool kWhitespace>
const char* RowParser::field_end(const char* p, std::string_view& content) const {
  const auto ends = [&](const char* at) {
    const std::uint8_t kind = classes_[static_cast<unsigned char>(*at)];
    return *at == '\n' || (kind & (kWhitespace ? kBlank : kDelimiter)) != 0;
  };
  const char* first = p;
  const char* last = p;
  if (*p == '"') {
    ++first;
    for (++p; *p != '\n' && !(*p == '"' && p[1] != '"'); ++p) p += *p == '"';
    last = p;
    p += *p == '"';
    for (; !ends(p); ++p)
      if (*p != ' ' && *p != '\t' && *p != '\r') last = p + 1;  // text after the closing quote: not a number
  } else {
    while (!ends(p)) ++p;
    last = p;
  }
  while (last > first && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r')) --last;
  content = {first, static_cast<std::size_t>(last - first)};
  if (p > first && *p == '\n' && p[-1] == '\r') --p;
  return kWhitespace ? skip_blanks(p) : p;
}

template <bool kWhitespace>
const char* RowParser::slow_field(const char* p, std::int32_t target) {
  std::string_view content;
  const char* const after = field_end<kWhitespace>(p, content);
  const auto number = parse_decimal(content, point_);
  value(target) = number.value_or(std::numeric_limits<double>::quiet_NaN());
  if (target < kFirstColumn) {
    bad_position_ |= !number.has_value();
    return after;
  }
  const auto column = static_cast<std::size_t>(target - kFirstColumn);
  if (!number) {
    bad_fields_.push_back({column, content, false});
  } else if (std::isfinite(*number)) {
    const double v = *number;
    ColumnStats& stats = summary_.columns[column];
    const bool in_range = std::fabs(v) <= static_cast<double>(std::numeric_limits<float>::max());
    stats.needs_double |= !in_range || static_cast<double>(static_cast<float>(v)) != v;
    if (std::fabs(v) >= kTwo53) {
      const bool rounded = loses_digits(content, v);
      const bool plain = content.find_first_not_of("+-0123456789") == std::string_view::npos;
      stats.inexact_whole |= rounded || !plain;
      stats.needs_double |= rounded;
      if (rounded) bad_fields_.push_back({column, content, true});
    }
  }
  return after;
}

void RowParser::store(std::int32_t target, const Decimal& number) {
  value(target) = number.value;
  if (target >= kFirstColumn) {
    note_digits(summary_.columns[static_cast<std::size_t>(target - kFirstColumn)], number);
  }
}

template <bool kWhitespace>
const char* RowParser::parse_row(const char* p) {
  const char* const line = p;
  std::uint32_t columns = 0;
  bad_position_ = false;
  bad_fields_.clear();
  for (;;) {
    const std::int32_t target = columns < targets_.size() ? targets_[columns] : kUnwanted;
    const char* after = nullptr;
    if (target != kUnwanted) {
      Decimal number;
      after = scan_decimal(p, point_, number);
      if (after != nullptr) after = after_number<kWhitespace>(after);
      if (after != nullptr) {
        store(target, number);
      } else {
        after = slow_field<kWhitespace>(p, target);
      }
    } else {
      std::string_view ignored;
      after = field_end<kWhitespace>(p, ignored);
    }
    ++columns;
    p = after;
    if (at_line_end(p)) break;
    if constexpr (!kWhitespace) {
      p = skip_blanks(p + 1);
      if (at_line_end(p) && columns >= params_.expected_columns) break;  // a delimiter at the end of the line
    }
    if (columns >= params_.expected_columns) {
      columns = params_.expected_columns + 1;
      while (*p != '\n') ++p;
      break;
    }
  }
  p += *p == '\n' ? 0 : 1;
  end_row(line, p, columns);
  return p + 1;
}

void RowParser::end_row(const char* line, const char* line_end, std::uint32_t columns) {
  if (bad_position_ || columns < position_columns_) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    if (std::all_of(line, line_end, blank)) return;  // a line of tabs in a tab-separated table is blank
    if (summary_.malformed.count < RowSummary::kLinesNamed) summary_.malformed_lines.push_back(here());
    if (summary_.malformed.count == 0) summary_.first_malformed_columns = columns;
    summary_.malformed.add(here());
    return;
  }
  const Vec3d position = params_.frame.apply({value(0), value(1), value(2)});
  if (!is_finite(position)) {
    summary_.nonfinite.add(here());
    return;
  }
  if (columns != params_.expected_columns) {
    Oddity& oddity = columns > params_.expected_columns ? summary_.long_rows : summary_.short_rows;
    if (columns < params_.expected_columns && oddity.count == 0) summary_.first_short_columns = columns;
    oddity.add(here());
  }
  for (const BadField& bad : bad_fields_) {
    ColumnStats& stats = summary_.columns[bad.column];
    if (bad.rounded) {
      if (stats.rounded++ == 0) stats.first_rounded = here();
    } else if (stats.not_numbers++ == 0) {
      stats.first_not_number = here();
      stats.not_number_text = printable(bad.text);
    }
  }
  reach(columns_before_[std::min<std::size_t>(columns, targets_.size())]);
  positions_[static_cast<std::size_t>(kept_++)] = position;
  ++batch_.rows;
}

/// Gives every row a value in every column below batch_.filled: NaN if the row has no such column.
void RowParser::reach(std::size_t written) {
  widen(written, batch_.rows);
  for (std::size_t c = written; c < batch_.filled; ++c) values_[(c + 3) * capacity_ + batch_.rows] = kNan;
  if (written < batch_.columns) ++summary_.rows_by_reach[written];
  summary_.reached = std::max(summary_.reached, written);
}

/// Extends batch_.filled to `written`; the first `rows` rows have no such columns.
void RowParser::widen(std::size_t written, std::size_t rows) {
  for (; batch_.filled < written; ++batch_.filled) {
    std::fill_n(values_.data() + (batch_.filled + 3) * capacity_, rows, kNan);
  }
}

/// Makes room for the positions of a batch.
void RowParser::make_room() {
  const std::size_t wanted = static_cast<std::size_t>(kept_) + capacity_;
  if (positions_.size() < wanted)
    positions_.resize(std::max(wanted, positions_.size() + positions_.size() / 2));
}

void RowParser::flush(OpContext& ctx) {
  ctx.checkpoint();
  const std::size_t before = packed_.bytes();
  pack_batch(batch_, summary_.columns, packed_);
  budget_.take(packed_.bytes() - before + batch_.rows * sizeof(Vec3d));
  batch_.rows = 0;
  batch_.filled = 0;
  make_room();
}

}  // namespace pc::io

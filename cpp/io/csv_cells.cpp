#include "io/csv_cells.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace pc::io {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view CsvCells::quoted_cell() {
  const std::size_t first = ++at_;
  bool escaped = false;
  for (;;) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos)
      throw Error(ErrorCode::kInvalidFile,
                  "row " + std::to_string(row_) + ": a cell begins with a quote and has no second one");
    at_ = quote + 1;
    if (at_ >= text_.size() || text_[at_] != '"') break;
    escaped = true;
    ++at_;
  }
  const std::string_view raw = text_.substr(first, at_ - 1 - first);
  if (!escaped) return raw;
  std::string& out = unescaped_.emplace_back();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    out += raw[i];
    if (raw[i] == '"') ++i;
  }
  return out;
}

bool CsvCells::next() {
  if (at_ >= text_.size()) return false;
  ++row_;
  cells_.clear();
  unescaped_.clear();
  for (;;) {
    while (at_ < text_.size() && is_blank(text_[at_]) && text_[at_] != separator_) ++at_;
    std::string_view quoted;
    const bool is_quoted = at_ < text_.size() && text_[at_] == '"';
    if (is_quoted) quoted = quoted_cell();
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && !is_line_end(text_[at_])) ++at_;
    const std::string_view rest = text_.substr(first, at_ - first);
    if (is_quoted && !trimmed(rest).empty())
      throw Error(ErrorCode::kInvalidFile, "row " + std::to_string(row_) + ": text after a quoted cell");
    cells_.push_back(trimmed(is_quoted ? quoted : rest));
    if (at_ >= text_.size()) return true;
    const char end = text_[at_++];
    if (end == separator_) continue;
    if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    return true;
  }
}

bool CsvCells::blank() const {
  return std::all_of(cells_.begin(), cells_.end(), [](std::string_view cell) { return cell.empty(); });
}

char sniffed_separator(std::string_view text) {
  constexpr std::array<char, 3> kSeparators = {',', ';', '\t'};
  std::array<std::uint64_t, 3> counts{};
  bool inside = false;
  std::uint64_t total = 0;
  for (const char c : text) {
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (is_line_end(c) && total > 0) break;
    const auto found = std::find(kSeparators.begin(), kSeparators.end(), c);
    if (found == kSeparators.end()) continue;
    ++counts[static_cast<std::size_t>(found - kSeparators.begin())];
    ++total;
  }
  return kSeparators[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) -
                                              counts.begin())];
}

}  // namespace pc::io

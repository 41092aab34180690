#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "io/ascii_table.h"
#include "io/obj_chunk.h"

namespace pc::io {

namespace {

constexpr std::size_t kReadAhead = std::size_t{16} << 10;
constexpr std::uint64_t kLead =
    3;  // bytes before a line end that show whether a backslash continues its line

bool is_continued(const BulkVector<char>& text, std::size_t line_end) {
  if (line_end >= 1 && text[line_end - 1] == '\\') return true;
  return line_end >= 2 && text[line_end - 1] == '\r' && text[line_end - 2] == '\\';
}

/// Index of the first line end in [from, to) that ends a line for good, or `to`.
std::size_t find_line_end(const BulkVector<char>& text, std::size_t from, std::size_t to) {
  while (from < to) {
    const void* mark = std::memchr(text.data() + from, '\n', to - from);
    if (mark == nullptr) return to;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(mark) - text.data());
    if (!is_continued(text, at)) return at;
    from = at + 1;
  }
  return to;
}

/// Replaces every backslash before a line end by a blank and that line end by '\v'.
void join_lines(char* p, char* end) {
  while ((p = static_cast<char*>(std::memchr(p, '\\', static_cast<std::size_t>(end - p)))) != nullptr) {
    char* mark = p + 1;
    if (mark != end && *mark == '\r') ++mark;
    if (mark < end - 1 && *mark == '\n') {
      *p = ' ';
      *mark = '\v';
    }
    if (++p == end) return;
  }
}

}  // namespace

Span<char> load_obj_lines(const LineSource& source, std::uint64_t begin, std::uint64_t end,
                          BulkVector<char>& buffer) {
  const std::uint64_t from = begin - std::min(begin, kLead);
  const auto span = static_cast<std::size_t>(end - from);
  const auto lead = static_cast<std::size_t>(begin - from);
  source.load(from, span + kReadAhead, 0, buffer);
  const std::size_t first = begin == 0 ? 0 : find_line_end(buffer, lead - 1, span) + 1;
  if (first >= span) return {};
  std::size_t stop = find_line_end(buffer, span - 1, buffer.size());
  while (stop == buffer.size() && from + buffer.size() < source.data_bytes()) {
    if (buffer.size() - span > kMaxTextLineBytes) {
      throw Error(ErrorCode::kInvalidFile,
                  source.path() + ": a line around byte " + std::to_string(from + span) + " is longer than " +
                      std::to_string(kMaxTextLineBytes >> 20) + " MiB: not an OBJ file");
    }
    const std::size_t had = buffer.size();
    source.load(from, had * 2, had, buffer);
    stop = find_line_end(buffer, had - 1, buffer.size());
  }
  if (stop == buffer.size()) buffer.push_back('\n');
  buffer.resize(std::max(buffer.size(), stop + 1 + kTextPadding));
  join_lines(buffer.data() + first, buffer.data() + stop + 1);
  return {buffer.data() + first, stop + 1 - first};
}

}  // namespace pc::io

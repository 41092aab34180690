#include "io/ascii_lines.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "io/ascii_table.h"

namespace pc::io {

namespace {

constexpr std::size_t kReadAhead = std::size_t{16} << 10;  // usual distance to the end of a chunk's last line

/// Index of the first line end in [from, to), or `to`.
std::size_t find_end(const BulkVector<char>& buffer, std::size_t from, std::size_t to) {
  const void* found = from < to ? std::memchr(buffer.data() + from, '\n', to - from) : nullptr;
  return found == nullptr ? to : static_cast<std::size_t>(static_cast<const char*>(found) - buffer.data());
}

}  // namespace

void LineSource::load(std::uint64_t from, std::size_t bytes, std::size_t had,
                      BulkVector<char>& buffer) const {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, data_bytes() - from));
  buffer.reserve(wanted + kTextPadding + 1);
  buffer.resize(wanted);
  if (file_.read_at(data_start_ + from + had, buffer.data() + had, wanted - had) != wanted - had) {
    throw Error(ErrorCode::kIo, file_.path() + ": the file became shorter while it was read");
  }
  if (cr_lines_) std::replace(buffer.begin() + had, buffer.end(), '\r', '\n');
}

Span<const char> LineSource::read_lines(std::uint64_t begin, std::uint64_t end,
                                        BulkVector<char>& buffer) const {
  const std::uint64_t from =
      begin == 0 ? 0 : begin - 1;  // the previous byte shows whether a line starts at `begin`
  const auto span = static_cast<std::size_t>(end - from);
  load(from, span + kReadAhead, 0, buffer);
  const std::size_t first = begin == 0 ? 0 : find_end(buffer, 0, span) + 1;
  if (first >= span) return {};
  std::size_t last = span - 1;  // start of the last line
  while (last > first && buffer[last - 1] != '\n') --last;
  std::size_t stop = find_end(buffer, span - 1, buffer.size());
  while (stop == buffer.size() && from + buffer.size() < data_bytes() && stop - last <= kMaxTextLineBytes) {
    load(from, buffer.size() * 2, stop, buffer);
    stop = find_end(buffer, stop, buffer.size());
  }
  if (stop - last > kMaxTextLineBytes) {
    throw Error(ErrorCode::kInvalidFile,
                path() + ": the line at byte " + std::to_string(data_start_ + from + last) +
                    " is longer than " + std::to_string(kMaxTextLineBytes >> 20) + " MiB: not a text table");
  }
  if (stop == buffer.size()) buffer.push_back('\n');  // the last line of the file has no line end
  buffer.resize(std::max(buffer.size(), stop + 1 + kTextPadding));
  return {buffer.data() + first, stop + 1 - first};
}

}  // namespace pc::io

#include "io/ascii_head.h"

#include <algorithm>
#include <cstring>

#include "io/ascii_table.h"

namespace pc::io {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;

bool starts_with(const BulkVector<char>& bytes, const char* mark, std::size_t length) {
  return bytes.size() >= length && std::memcmp(bytes.data(), mark, length) == 0;
}

void refuse_other_encodings(const platform::File& file, const BulkVector<char>& bytes) {
  const bool utf16 = starts_with(bytes, "\xff\xfe", 2) || starts_with(bytes, "\xfe\xff", 2);
  const bool utf32 = starts_with(bytes, "\0\0\xfe\xff", 4);
  if (utf16 || utf32) {
    throw Error(
        ErrorCode::kInvalidFile,
        file.path() + ": the text is UTF-16 or UTF-32 (byte order mark); save it as UTF-8 or plain ASCII");
  }
}

void refuse_binary(const platform::File& file, const BulkVector<char>& bytes) {
  const void* nul = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
  if (nul == nullptr) return;
  const auto offset = static_cast<const char*>(nul) - bytes.data();
  throw Error(ErrorCode::kInvalidFile, file.path() + ": binary file, not text (NUL byte at offset " +
                                           std::to_string(offset) +
                                           "); give it the extension of its real format");
}

/// Offset of the first CR or LF at or after `from`, or the size.
std::size_t first_line_end(const BulkVector<char>& bytes, std::size_t from) {
  const auto ends = [](char c) { return c == '\n' || c == '\r'; };
  return static_cast<std::size_t>(std::find_if(bytes.begin() + from, bytes.end(), ends) - bytes.begin());
}

}  // namespace

TextHead read_text_head(const platform::File& file, OpContext& ctx) {
  TextHead head;
  std::size_t wanted = kHeadBytes, searched = 0, line_end = 0;
  for (;;) {
    ctx.checkpoint();
    const std::size_t had = head.bytes.size();
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, file.size()));
    head.bytes.resize(bytes);
    head.bytes.resize(had + file.read_at(had, head.bytes.data() + had, bytes - had));
    if (had == 0) {
      refuse_other_encodings(file, head.bytes);
      if (starts_with(head.bytes, "\xef\xbb\xbf", 3)) head.start = searched = 3;
    }
    line_end = first_line_end(head.bytes, searched);
    // A CR at the very end may be half of a CRLF: it is examined again with more bytes.
    const bool decided = line_end + 1 < head.bytes.size();
    if (decided || head.bytes.size() < bytes || bytes == file.size()) break;
    if (bytes > kMaxTextLineBytes) break;
    searched = line_end;
    wanted *= 2;
  }
  refuse_binary(file, head.bytes);
  if (line_end - head.start > kMaxTextLineBytes) {
    throw Error(ErrorCode::kInvalidFile, file.path() + ": line 1 is longer than " +
                                             std::to_string(kMaxTextLineBytes >> 20) +
                                             " MiB: not a text table");
  }
  const std::size_t size = head.bytes.size();
  head.cr_lines = line_end < size && head.bytes[line_end] == '\r' &&
                  !(line_end + 1 < size && head.bytes[line_end + 1] == '\n');
  return head;
}

TextSample sample_text(const std::string& path, std::size_t max_lines, OpContext& ctx) {
  const auto file = platform::File::open_read(path);
  TextHead head = read_text_head(file, ctx);
  if (head.cr_lines) std::replace(head.bytes.begin(), head.bytes.end(), '\r', '\n');
  TextSample sample{{}, file.size(), false};
  const char* p = head.bytes.data() + head.start;
  const char* const end = head.bytes.data() + head.bytes.size();
  const bool whole_file = head.bytes.size() >= file.size();
  while (p < end && sample.lines.size() < max_lines) {
    const auto* stop = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    if (stop == nullptr && !whole_file) break;  // cut off by the size limit of the head
    const char* const next = stop == nullptr ? end : stop + 1;
    const char* last = stop == nullptr ? end : stop;
    if (last > p && last[-1] == '\r') --last;
    sample.lines.emplace_back(p, last);
    p = next;
  }
  sample.complete = whole_file && p == end;
  return sample;
}

}  // namespace pc::io

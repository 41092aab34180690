#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/memory.h"
#include "core/platform.h"
#include "core/span.h"

namespace pc::io {

/// Readable bytes after the lines that read_lines returns: parsers look at up to 64 bytes in one step.
inline constexpr std::size_t kTextPadding = 64;

/// Reads whole lines from any position of a text file, so that workers can share the file.
class LineSource {
 public:
  /// `data_start` is the first byte of the data in the file; `cr_lines`: lines end with CR alone.
  LineSource(const platform::File& file, std::uint64_t data_start, bool cr_lines)
      : file_(file), data_start_(data_start), cr_lines_(cr_lines) {}

  const std::string& path() const { return file_.path(); }
  std::uint64_t data_bytes() const { return file_.size() - data_start_; }

  /// The lines that start in bytes [begin, end) of the data, begin < end; empty if no line does. The last byte is
  /// '\n', and kTextPadding readable bytes follow. Valid until `buffer` changes. Errors: kInvalidFile for a line
  /// beyond kMaxTextLineBytes, kIo if the file shrank.
  Span<const char> read_lines(std::uint64_t begin, std::uint64_t end, BulkVector<char>& buffer) const;

  /// Loads the data from offset `from`, at most `bytes`, into `buffer`; the first `had` bytes are there already. Line ends
  /// become '\n'. Errors: kIo if the file shrank.
  void load(std::uint64_t from, std::size_t bytes, std::size_t had, BulkVector<char>& buffer) const;

 private:
  const platform::File& file_;
  std::uint64_t data_start_;
  bool cr_lines_;
};

}  // namespace pc::io

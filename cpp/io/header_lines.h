#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/platform.h"

namespace pc::io {

/// Reads the lines of a text header that precedes a binary or text body, no further than requested.
class HeaderLines {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 20;

  /// `what` is the header's name in messages: "PLY header".
  HeaderLines(const platform::File& file, const char* what) : file_(file), what_(what) {}

  /// The next line without its line end and without leading and trailing blanks. A lone '\r' ends lines if it ends the
  /// first line of the file. Throws kInvalidFile at the end of the file and after kMaxBytes.
  std::string next();

  std::uint64_t line_number() const { return line_; }  ///< 1-based number of the line returned last
  std::uint64_t offset() const { return offset_; }     ///< of the first byte after that line
  char line_end() const { return line_end_; }
  const std::string& path() const { return file_.path(); }

  /// Throws kInvalidFile: "<path>, line <n>: <problem>".
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  bool fill();

  const platform::File& file_;
  const char* what_;
  std::string buffer_;
  std::uint64_t offset_ = 0, line_ = 0;
  char line_end_ = 0;
};

/// Words of a line, separated by blanks.
std::vector<std::string> split_words(const std::string& line);
/// `text` for messages: cut to 60 bytes, unprintable ones replaced by '?', in quotes.
std::string quoted(const std::string& text);

}  // namespace pc::io

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/platform.h"

namespace pc::io {

/// Lines of a text header in front of a binary or text body, read only as far as they are asked for.
class HeaderLines {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 20;

  /// `what` names the header in messages: "PLY header".
  HeaderLines(const platform::File& file, const char* what) : file_(file), what_(what) {}

  /// The next line without its end mark and without blanks at both ends. A lone '\r' ends lines when the first line
  /// of the file ends so. Throws kInvalidFile at the end of the file and after kMaxBytes.
  std::string next();

  std::uint64_t line_number() const { return line_; }  ///< 1-based, of the line next() returned last
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
/// `text` cut to 60 bytes, with unprintable ones as '?', in quotes: for messages.
std::string quoted(const std::string& text);

}  // namespace pc::io

#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/op_context.h"

namespace pc::io {

/// A position in a JSON text, and the tokens that can stand there (RFC 8259). Every error is kInvalidArgument and names
/// the byte offset.
class JsonLexer {
 public:
  /// text: with kDecimalPadding readable bytes after its end that are no digits.
  JsonLexer(std::string_view text, OpContext& ctx)
      : first_(text.data()), p_(text.data()), end_(text.data() + text.size()), reported_(p_), ctx_(ctx) {}

  const char* at() const { return p_; }
  bool ended() const { return p_ == end_; }
  /// The byte at the position; '\0' at the end.
  char peek() const { return p_ == end_ ? '\0' : *p_; }
  void skip_blanks() {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  }
  /// Skips `c` if it is the next byte.
  bool take(char c) {
    if (peek() != c || p_ == end_) return false;
    ++p_;
    return true;
  }
  /// Skips `c`, which must be the next byte.
  void expect(char c, const char* what) {
    if (!take(c)) fail(what);
  }
  /// Skips `word` if the text continues with it.
  bool take_word(std::string_view word);
  /// Skips a string.
  void skip_string();
  /// Skips a string and returns its contents as UTF-8; a lone surrogate becomes U+FFFD.
  std::string read_string();
  /// Skips a string and passes its contents as UTF-8, piece by piece, to put(std::string_view).
  template <class Put>
  void read_string_to(Put&& put) {
    expect('"', "a string is expected");
    for (std::string escaped;; escaped.clear()) {
      const char* const plain = p_;
      skip_plain();
      put(std::string_view(plain, static_cast<std::size_t>(p_ - plain)));
      if (ended()) fail("a string does not end");
      if (take('"')) return;
      if (!take('\\')) fail("a control character in a string");
      skip_escape(&escaped);
      put(std::string_view(escaped));
      report();
    }
  }
  /// Bytes between the quotes of the string at the position, as written; up to the end of the text if it does not end.
  std::uint64_t string_bytes() const;
  /// Reads a number: the nearest double, infinite beyond its range.
  double read_number();
  /// Commas up to the end of the list whose bracket was just skipped, or up to its first string or object: one less than
  /// the values of a list of numbers and words, and never less than those before the string or object.
  std::uint64_t commas_in_list() const;
  /// Reports progress and checks for a cancel; call it for every element of a list.
  void report() {
    if (p_ - reported_ >= kReportBytes) report_now();
  }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  static constexpr std::ptrdiff_t kReportBytes = std::ptrdiff_t{1} << 20;
  void report_now();
  void skip_plain();
  void skip_escape(std::string* out);
  std::uint32_t hex4();

  const char* first_;
  const char* p_;
  const char* end_;
  const char* reported_;
  OpContext& ctx_;
};

}  // namespace pc::io

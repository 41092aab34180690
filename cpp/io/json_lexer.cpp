#include "io/json_lexer.h"

#include <cstring>

#include "core/error.h"
#include "core/parse_double.h"
#include "io/decimal.h"

namespace pc::io {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Bytes of a string that need no look: all but quote, backslash and control characters.
bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

void JsonLexer::fail(const std::string& what) const {
  throw Error(ErrorCode::kInvalidArgument,
              "the body is not valid JSON: " + what + " at byte " + std::to_string(p_ - first_));
}

void JsonLexer::report_now() {
  ctx_.checkpoint();
  ctx_.advance(static_cast<std::uint64_t>(p_ - reported_));
  reported_ = p_;
}

bool JsonLexer::take_word(std::string_view word) {
  if (static_cast<std::size_t>(end_ - p_) < word.size() || std::memcmp(p_, word.data(), word.size()) != 0)
    return false;
  p_ += word.size();
  return true;
}

std::uint32_t JsonLexer::hex4() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = peek();
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      code = code * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      code = code * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    } else {
      fail("an escape without four hexadecimal digits");
    }
    ++p_;
  }
  return code;
}

/// Behind a backslash.
void JsonLexer::skip_escape(std::string* out) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const char c = peek();
  const std::size_t known = c == '\0' ? std::string_view::npos : kLetters.find(c);
  if (known != std::string_view::npos) {
    ++p_;
    if (out != nullptr) *out += kMeanings[known];
    return;
  }
  if (!take('u')) fail("an unknown escape");
  std::uint32_t code = hex4();
  if (code >= 0xd800 && code < 0xdc00 && end_ - p_ >= 6 && p_[0] == '\\' && p_[1] == 'u') {
    const char* const before = p_;
    p_ += 2;
    const std::uint32_t low = hex4();
    if (low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else {
      p_ = before;
    }
  }
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  if (out != nullptr) append_utf8(*out, code);
}

/// Skips bytes that need no look, which may be the whole text.
void JsonLexer::skip_plain() {
  for (;;) {
    const char* const stop = end_ - p_ > kReportBytes ? p_ + kReportBytes : end_;
    while (p_ != stop && is_plain(*p_)) ++p_;
    if (p_ != stop || stop == end_) return;
    report_now();
  }
}

void JsonLexer::skip_string() {
  expect('"', "a string is expected");
  for (;;) {
    skip_plain();
    if (ended()) fail("a string does not end");
    if (take('"')) return;
    if (!take('\\')) fail("a control character in a string");
    skip_escape(nullptr);
    report();
  }
}

std::string JsonLexer::read_string() {
  std::string out;
  read_string_to([&](std::string_view piece) { out += piece; });
  return out;
}

std::uint64_t JsonLexer::string_bytes() const {
  const char* const first = p_ + 1;
  const char* looked = first;
  const char* c = first;
  for (; c < end_ && *c != '"'; ++c) {
    if (*c == '\\' && end_ - c > 1) ++c;
    if (c - looked < kReportBytes) continue;
    ctx_.checkpoint();
    looked = c;
  }
  return static_cast<std::uint64_t>(c - first);
}

double JsonLexer::read_number() {
  const char* const start = p_;
  const bool negative = take('-');
  if (!is_digit(peek())) fail(negative ? "a minus without a digit" : "a value is expected");
  if (peek() == '0' && end_ - p_ > 1 && is_digit(p_[1])) fail("a number with a leading zero");
  std::uint64_t mantissa = 0;
  const char* const whole = p_;
  p_ = decimal_kernel::take_all_digits(p_, mantissa);
  auto digits = p_ - whole;
  int exponent = 0;
  if (peek() == '.') {
    const char* const fraction = ++p_;
    p_ = decimal_kernel::take_all_digits(p_, mantissa);
    if (p_ == fraction || fraction >= end_) fail("a decimal point without digits");
    digits += p_ - fraction;
    exponent = -static_cast<int>(p_ - fraction < 1000 ? p_ - fraction : 1000);
  }
  bool exact = digits <= 19 && mantissa <= (std::uint64_t{1} << 53) && exponent >= -22;
  if ((peek() | 0x20) == 'e') {
    ++p_;
    if (peek() == '+' || peek() == '-') ++p_;
    if (!is_digit(peek())) fail("an exponent without digits");
    while (is_digit(peek())) ++p_;
    exact = false;
  }
  if (!exact) return parse_double(start, p_).value;
  const double value = static_cast<double>(mantissa) / kExactPowersOfTen[static_cast<std::size_t>(-exponent)];
  return negative ? -value : value;
}

std::uint64_t JsonLexer::commas_in_list() const {
  std::uint64_t commas = 0;
  std::ptrdiff_t depth = 0;
  const char* looked = p_;
  for (const char* c = p_; c != end_; ++c) {
    if (*c == ',') {
      ++commas;
    } else if (*c == '[') {
      ++depth;
    } else if (*c == ']') {
      if (depth-- == 0) break;
    } else if (*c == '"' || *c == '{') {
      break;  // brackets in a string would lead past the end of the list
    }
    if (c - looked < kReportBytes) continue;
    ctx_.checkpoint();
    looked = c;
  }
  return commas;
}

}  // namespace pc::io

#pragma once

namespace pc {

/// A number read from text, and the first byte after it.
struct ParsedDouble {
  const char* end;  ///< equals the start if there is no number
  double value;
};

/// Parses the decimal number, nan or infinity at the start of [first, last), like std::from_chars in its general
/// format: no leading blanks, no plus sign, decimal point. Correctly rounded (ties to even), independent of the
/// locale; numbers beyond the range of double become +-infinity or +-0, as with strtod.
///
/// Source   fast_float, because Apple's libc++ has no std::from_chars for floating point.
ParsedDouble parse_double(const char* first, const char* last);

}  // namespace pc

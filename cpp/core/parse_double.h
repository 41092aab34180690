#pragma once

namespace pc {

/// A number read from text, and the first byte after it.
struct ParsedDouble {
  const char* end;  ///< where it began when there is no number
  double value;
};

/// Reads the decimal number, nan or infinity that [first, last) begins with, as std::from_chars does in its general
/// format: no leading blanks, no plus sign, a point. Correctly rounded (ties to even), independent of the locale; beyond
/// the range of double +-infinity or +-0, as strtod gives.
///
/// Source   fast_float, since Apple's libc++ has no std::from_chars of floating point.
ParsedDouble parse_double(const char* first, const char* last);

}  // namespace pc

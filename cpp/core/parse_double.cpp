#include "core/parse_double.h"

#include <fast_float/fast_float.h>

namespace pc {

ParsedDouble parse_double(const char* first, const char* last) {
  double value = 0;
  // Library versions differ in whether a number out of range is an error; all of them set `value` to its limit.
  const auto read = fast_float::from_chars(first, last, value, fast_float::chars_format::general);
  if (read.ec == std::errc::invalid_argument) return {first, 0};
  return {read.ptr, value};
}

}  // namespace pc

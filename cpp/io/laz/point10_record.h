#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pc::io::laz {

/// The first 20 bytes of records of formats 0 to 5, laid out as in the file (ASPRS LAS 1.4 R15, table 7).
struct Point10 {
  std::int32_t x, y, z;
  std::uint16_t intensity;
  std::uint8_t
      returns;  ///< 0-2 return number, 3-5 number of returns, 6 scan direction, 7 edge of flight line
  std::uint8_t classification;
  std::uint8_t scan_angle;
  std::uint8_t user_data;
  std::uint16_t source;

  unsigned return_number() const { return returns & 7U; }
  unsigned return_count() const { return returns >> 3 & 7U; }
};
static_assert(sizeof(Point10) == 20 && offsetof(Point10, source) == 18);

template <class T>
T load_record(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace pc::io::laz

#pragma once
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "io/las_format.h"

/// Conversion between the stored numbers of extra bytes and their values, in both directions.
namespace pc::io::las {

/// The no-data value in the stored type. Stored values are compared, so scaling cannot blur the match.
template <class T>
T no_data_value(const Coding& coding) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::bit_cast<double>(coding.no_data_bits));
  } else {
    return static_cast<T>(coding.no_data_bits);
  }
}

/// False if the stated value is outside the stored type and so matches nothing. All ones beyond the type's width are
/// accepted: a sign-extended value.
template <class T>
bool no_data_possible(const Coding& coding) {
  if (!coding.has_no_data) return false;
  if constexpr (std::is_floating_point_v<T>) {
    const double value = std::bit_cast<double>(coding.no_data_bits);
    return !(std::abs(value) > static_cast<double>(std::numeric_limits<T>::max()));
  } else if constexpr (sizeof(T) == 8) {
    return true;
  } else {
    const auto high = static_cast<std::int64_t>(coding.no_data_bits) >> (8 * sizeof(T));
    return high == 0 ? std::is_unsigned_v<T> || no_data_value<T>(coding) >= 0
                     : high == -1 && (std::is_unsigned_v<T> || no_data_value<T>(coding) < 0);
  }
}

/// The stored number that is read back as exactly `value`, bit for bit; nothing if there is none.
template <class T>
std::optional<T> scaled_raw(const Coding& coding, double value) {
  const bool blank = no_data_possible<T>(coding);
  if (value != value && blank) return no_data_value<T>(coding);
  const auto reads_as = [&](T raw) {
    if (blank && raw == no_data_value<T>(coding)) return false;
    const double read = static_cast<double>(raw) * coding.scale + coding.shift_by;
    return std::bit_cast<std::uint64_t>(read) == std::bit_cast<std::uint64_t>(value);
  };
  const double quotient = (value - coding.shift_by) / coding.scale;
  if constexpr (std::is_floating_point_v<T>) {
    const T near = static_cast<T>(quotient);
    for (const T raw : {near, std::nextafter(near, -std::numeric_limits<T>::infinity()),
                        std::nextafter(near, std::numeric_limits<T>::infinity())}) {
      if (reads_as(raw)) return raw;
    }
  } else {
    const double whole = std::nearbyint(quotient);
    const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
    // Beyond 2^53 the rounding of the quotient can miss the number by one step of float64.
    for (const double near : {whole, std::nextafter(whole, -limit), std::nextafter(whole, limit)}) {
      if (!(near < limit && near >= (std::is_signed_v<T> ? -limit : 0.0))) continue;
      const T raw = static_cast<T>(near);
      if (reads_as(raw)) return raw;
    }
  }
  return std::nullopt;
}

/// As scaled_raw, for floats without scale: a NaN that was read from the no-data value is stored as that value.
template <class T>
std::optional<T> blanked_raw(const Coding& coding, T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (!no_data_possible<T>(coding) || std::isnan(no_data_value<T>(coding))) return value;
  if (value == no_data_value<T>(coding)) return std::nullopt;
  const bool blank = std::bit_cast<Bits>(value) == std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  return blank ? no_data_value<T>(coding) : value;
}

}  // namespace pc::io::las

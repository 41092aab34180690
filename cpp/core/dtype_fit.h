#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/column.h"

namespace pc {

/// Converts `value` to `out` if To can represent it exactly; returns whether it can. For equal types every bit is kept
/// (NaN payloads, -0.0); between types, NaN fits every float type and no integer type, and -0.0 fits an integer as 0.
template <class To, class From>
bool exact_cast(From value, To& out) {
  if constexpr (std::is_same_v<To, From>) {
    out = value;
    return true;
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    out = static_cast<To>(value);
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<From>) {
    out = static_cast<To>(value);
    if constexpr (std::numeric_limits<From>::digits <= std::numeric_limits<To>::digits) return true;
    using Unsigned = std::make_unsigned_t<From>;
    const Unsigned size =
        value < 0 ? Unsigned{0} - static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
    return size == 0 || std::bit_width(size) - std::countr_zero(size) <= std::numeric_limits<To>::digits;
  } else if constexpr (std::is_integral_v<To>) {
    // Powers of two are exact in both float types; max() may not be.
    const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    const From lowest = std::is_signed_v<To> ? -above : From{0};
    if (!(value >= lowest && value < above) || std::trunc(value) != value) return false;
    out = static_cast<To>(value);
    return true;
  } else {
    if (std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<To>::max()))
      return false;
    out = static_cast<To>(value);
    return std::isnan(value) || static_cast<From>(out) == value;
  }
}

/// Calls visit(std::type_identity<T>{}) with the scalar type of `dtype`; throws kInvalidArgument for triples.
template <class Visit>
decltype(auto) visit_scalar_type(DType dtype, Visit&& visit) {
  return visit_scalar(AnyColumn(dtype, 0), [&](auto values) -> decltype(auto) {
    using T = std::remove_const_t<std::remove_reference_t<decltype(values[0])>>;
    return visit(std::type_identity<T>{});
  });
}

/// Narrowest scalar type that holds every value of both types; none if there is no such type (u64 with a signed type,
/// 64-bit integers with floats) or one of them is a triple.
std::optional<DType> common_dtype(DType a, DType b);

/// Narrowest scalar type that holds `value` and every value of `dtype`; `dtype` itself if that holds `value`.
std::optional<DType> dtype_holding(DType dtype, double value);

/// Type of row numbers of a cloud: u32, or u64 from 2^32 rows on (a run may then be 2^32 rows long).
constexpr DType row_index_dtype(std::uint64_t row_count) {
  return row_count >> 32 == 0 ? DType::kU32 : DType::kU64;
}

/// Converts `count` scalars, those at rows[0], rows[1], ... (nullptr: at 0, 1, ...). Stops at the first one that does
/// not fit (see exact_cast) and returns the number converted.
using ConvertRows = std::size_t (*)(const std::byte* from, const std::uint32_t* rows, std::size_t count,
                                    std::byte* to);
/// Throws kInvalidArgument for triples.
ConvertRows row_converter(DType from, DType to);

}  // namespace pc

#pragma once
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/error.h"

namespace pc {

/// Calls visit(std::integral_constant<std::size_t, size>{}) for the size of a column's element, so that copies of one
/// element compile to a load and a store.
///
/// Errors   kInternal for a size that no DType has.
template <class Visit>
decltype(auto) visit_element_size(std::size_t size, Visit&& visit) {
  switch (size) {
    case 1:
      return visit(std::integral_constant<std::size_t, 1>{});
    case 2:
      return visit(std::integral_constant<std::size_t, 2>{});
    case 4:
      return visit(std::integral_constant<std::size_t, 4>{});
    case 6:
      return visit(std::integral_constant<std::size_t, 6>{});
    case 8:
      return visit(std::integral_constant<std::size_t, 8>{});
    case 24:
      return visit(std::integral_constant<std::size_t, 24>{});
    default:
      throw Error(ErrorCode::kInternal, "no column has elements of " + std::to_string(size) + " bytes");
  }
}

/// Copies elements of `size` bytes: to[i] = from[rows[i]] for i in [0, count). The ranges do not overlap; every row
/// lies in `from`.
template <class Index>
void gather_rows(std::size_t size, const std::byte* from, const Index* rows, std::size_t count,
                 std::byte* to) {
  visit_element_size(size, [&](auto bytes) {
    constexpr std::size_t kSize = decltype(bytes)::value;
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(to + i * kSize, from + static_cast<std::size_t>(rows[i]) * kSize, kSize);
  });
}

}  // namespace pc

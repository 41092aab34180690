#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/column.h"
#include "core/error.h"

namespace pc::io {

template <std::size_t kBytes>
auto unsigned_of_size() {
  if constexpr (kBytes == 1) return std::uint8_t{};
  if constexpr (kBytes == 2) return std::uint16_t{};
  if constexpr (kBytes == 4) return std::uint32_t{};
  if constexpr (kBytes == 8) return std::uint64_t{};
}

/// The value with reversed byte order.
template <class U>
U reversed(U value) {
  U out = 0;
  for (std::size_t i = 0; i < sizeof(U); ++i) {
    out = static_cast<U>((static_cast<std::uint64_t>(out) << 8) | ((value >> (8 * i)) & 0xff));
  }
  return out;
}

/// The unaligned scalar at `from`; kSwap if it is stored in the opposite byte order.
template <class T, bool kSwap>
T load(const std::byte* from) {
  using U = decltype(unsigned_of_size<sizeof(T)>());
  U bits;
  std::memcpy(&bits, from, sizeof(T));
  if constexpr (kSwap && sizeof(T) > 1) bits = reversed(bits);
  return std::bit_cast<T>(bits);
}

/// Calls visit(T{}) with the scalar type of `type`.
template <class Visit>
void with_type(DType type, Visit&& visit) {
  switch (type) {
    case DType::kU8:
      return visit(std::uint8_t{});
    case DType::kI8:
      return visit(std::int8_t{});
    case DType::kU16:
      return visit(std::uint16_t{});
    case DType::kI16:
      return visit(std::int16_t{});
    case DType::kU32:
      return visit(std::uint32_t{});
    case DType::kI32:
      return visit(std::int32_t{});
    case DType::kU64:
      return visit(std::uint64_t{});
    case DType::kI64:
      return visit(std::int64_t{});
    case DType::kF32:
      return visit(float{});
    case DType::kF64:
      return visit(double{});
    case DType::kVec3d:
    case DType::kRgb16:
      break;
  }
  throw Error(ErrorCode::kInternal, std::string("a record field cannot hold ") + dtype_name(type));
}

}  // namespace pc::io

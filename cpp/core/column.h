#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/memory.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Element type of a column. kVec3d and kRgb16 are interleaved triples.
enum class DType : std::uint8_t { kU8, kI8, kU16, kI16, kU32, kI32, kU64, kI64, kF32, kF64, kVec3d, kRgb16 };

constexpr std::size_t dtype_size(DType t) {
  switch (t) {
    case DType::kU8:
    case DType::kI8:
      return 1;
    case DType::kU16:
    case DType::kI16:
      return 2;
    case DType::kU32:
    case DType::kI32:
    case DType::kF32:
      return 4;
    case DType::kU64:
    case DType::kI64:
    case DType::kF64:
      return 8;
    case DType::kVec3d:
      return 24;
    case DType::kRgb16:
      return 6;
  }
  return 0;
}

/// Short name used in files and in JavaScript: u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 vec3d rgb16.
const char* dtype_name(DType t);
/// Inverse of dtype_name; throws kInvalidArgument.
DType parse_dtype(const std::string& name);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::kU8;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::kI8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::kU16;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::kI16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::kU32;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kI32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::kU64;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kI64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};
template <>
struct DTypeOf<Vec3d> {
  static constexpr DType value = DType::kVec3d;
};
template <>
struct DTypeOf<Rgb16> {
  static constexpr DType value = DType::kRgb16;
};

class AnyColumn;

/// Owns `size` elements in their own pages, 64-byte aligned, initially zero. Move-only while it is filled; then
/// published as shared_ptr<const AnyColumn>, after which it never changes.
template <class T>
class Column {
 public:
  Column() = default;
  explicit Column(std::size_t size)
      : block_(PageBlock::allocate(checked_bytes(size, sizeof(T)))), size_(size) {}
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  Span<T> view() { return {reinterpret_cast<T*>(block_.data()), size_}; }
  Span<const T> view() const { return {reinterpret_cast<const T*>(block_.data()), size_}; }
  T& operator[](std::size_t i) { return view()[i]; }
  const T& operator[](std::size_t i) const { return view()[i]; }
  /// Drops elements beyond `size` (for readers that drop rows); the pages are kept.
  void shrink(std::size_t size) {
    if (size < size_) size_ = size;
  }

 private:
  friend class AnyColumn;
  PageBlock block_;
  std::size_t size_ = 0;
};

/// A column whose element type is known only at run time, as in sessions, files and bindings.
class AnyColumn {
 public:
  AnyColumn() = default;
  AnyColumn(DType dtype, std::size_t size)
      : dtype_(dtype), size_(size), block_(PageBlock::allocate(checked_bytes(size, dtype_size(dtype)))) {}
  /// Maps `size` elements from a file, starting at `offset`.
  static AnyColumn map_file(const std::string& path, std::uint64_t offset, DType dtype, std::size_t size);
  template <class T>
  AnyColumn(Column<T>&& column)  // NOLINT: a typed column is a column
      : dtype_(DTypeOf<T>::value), size_(column.size_), block_(std::move(column.block_)) {
    column.size_ = 0;
  }

  DType dtype() const { return dtype_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * dtype_size(dtype_); }
  bool file_backed() const { return block_.file_backed(); }
  std::byte* data() { return block_.data(); }
  const std::byte* data() const { return block_.data(); }

  /// Typed view; throws kInternal if T is not the column's type.
  template <class T>
  Span<const T> as() const {
    check(DTypeOf<T>::value);
    return {reinterpret_cast<const T*>(block_.data()), size_};
  }
  template <class T>
  Span<T> as_mutable() {
    check(DTypeOf<T>::value);
    return {reinterpret_cast<T*>(block_.data()), size_};
  }
  /// Drops rows beyond `size` (for readers that drop rows); the pages are kept.
  void shrink(std::size_t size) {
    if (size < size_) size_ = size;
  }

 private:
  void check(DType wanted) const {
    if (wanted != dtype_) {
      throw Error(ErrorCode::kInternal,
                  std::string("column holds ") + dtype_name(dtype_) + ", not " + dtype_name(wanted));
    }
  }
  DType dtype_ = DType::kU8;
  std::size_t size_ = 0;
  PageBlock block_;
};

using ColumnPtr = std::shared_ptr<const AnyColumn>;

/// Calls visit(Span<const T>) with the column's scalar type; throws kInvalidArgument for triples.
template <class Visit>
decltype(auto) visit_scalar(const AnyColumn& column, Visit&& visit) {
  switch (column.dtype()) {
    case DType::kU8:
      return visit(column.as<std::uint8_t>());
    case DType::kI8:
      return visit(column.as<std::int8_t>());
    case DType::kU16:
      return visit(column.as<std::uint16_t>());
    case DType::kI16:
      return visit(column.as<std::int16_t>());
    case DType::kU32:
      return visit(column.as<std::uint32_t>());
    case DType::kI32:
      return visit(column.as<std::int32_t>());
    case DType::kU64:
      return visit(column.as<std::uint64_t>());
    case DType::kI64:
      return visit(column.as<std::int64_t>());
    case DType::kF32:
      return visit(column.as<float>());
    case DType::kF64:
      return visit(column.as<double>());
    case DType::kVec3d:
    case DType::kRgb16:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument,
              std::string("a scalar column is needed, not ") + dtype_name(column.dtype()));
}

}  // namespace pc

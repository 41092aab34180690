#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/las_coding.h"

namespace pc::io::las {

namespace {

template <class T>
void copy_values(const Field& field, const std::uint8_t* records, std::size_t stride, std::size_t count,
                 T* out) {
  const std::uint8_t* from = records + field.offset;
  for (std::size_t i = 0; i < count; ++i, from += stride) out[i] = load<T>(from);
}

void copy_bits(const Field& field, const std::uint8_t* records, std::size_t stride, std::size_t count,
               std::uint8_t* out) {
  const std::uint8_t* from = records + field.offset;
  const unsigned shift = field.shift, mask = (1U << field.bits) - 1U;
  for (std::size_t i = 0; i < count; ++i, from += stride)
    out[i] = static_cast<std::uint8_t>((*from >> shift) & mask);
}

template <class T>
void copy_scaled(const Field& field, const std::uint8_t* records, std::size_t stride, std::size_t count,
                 double* out) {
  const std::uint8_t* from = records + field.offset;
  const double scale = field.scale, shift_by = field.shift_by;
  if (!no_data_possible<T>(field)) {
    for (std::size_t i = 0; i < count; ++i, from += stride) {
      out[i] = static_cast<double>(load<T>(from)) * scale + shift_by;
    }
    return;
  }
  const T no_data = no_data_value<T>(field);
  for (std::size_t i = 0; i < count; ++i, from += stride) {
    const T raw = load<T>(from);
    out[i] = raw == no_data ? std::numeric_limits<double>::quiet_NaN()
                            : static_cast<double>(raw) * scale + shift_by;
  }
}

template <class T>
void blank_no_data(const Field& field, std::size_t count, T* out) {
  if (!no_data_possible<T>(field)) return;
  const T no_data = no_data_value<T>(field);
  for (std::size_t i = 0; i < count; ++i) {
    if (out[i] == no_data) out[i] = std::numeric_limits<T>::quiet_NaN();
  }
}

void decode_scaled(const Field& field, const std::uint8_t* records, std::size_t stride, std::size_t count,
                   double* out) {
  switch (field.stored) {
    case DType::kU8:
      return copy_scaled<std::uint8_t>(field, records, stride, count, out);
    case DType::kI8:
      return copy_scaled<std::int8_t>(field, records, stride, count, out);
    case DType::kU16:
      return copy_scaled<std::uint16_t>(field, records, stride, count, out);
    case DType::kI16:
      return copy_scaled<std::int16_t>(field, records, stride, count, out);
    case DType::kU32:
      return copy_scaled<std::uint32_t>(field, records, stride, count, out);
    case DType::kI32:
      return copy_scaled<std::int32_t>(field, records, stride, count, out);
    case DType::kU64:
      return copy_scaled<std::uint64_t>(field, records, stride, count, out);
    case DType::kI64:
      return copy_scaled<std::int64_t>(field, records, stride, count, out);
    case DType::kF32:
      return copy_scaled<float>(field, records, stride, count, out);
    case DType::kF64:
      return copy_scaled<double>(field, records, stride, count, out);
    case DType::kVec3d:
    case DType::kRgb16:
      break;
  }
  throw Error(ErrorCode::kInternal, "a scaled field has no scalar type");
}

}  // namespace

void decode_field(const Field& field, const std::uint8_t* records, std::size_t stride, std::size_t count,
                  std::byte* out) {
  if (field.scaled) return decode_scaled(field, records, stride, count, reinterpret_cast<double*>(out));
  if (field.bits != 0) return copy_bits(field, records, stride, count, reinterpret_cast<std::uint8_t*>(out));
  switch (field.stored) {
    case DType::kU8:
    case DType::kI8:
      return copy_values(field, records, stride, count, reinterpret_cast<std::uint8_t*>(out));
    case DType::kU16:
    case DType::kI16:
      return copy_values(field, records, stride, count, reinterpret_cast<std::uint16_t*>(out));
    case DType::kU32:
    case DType::kI32:
      return copy_values(field, records, stride, count, reinterpret_cast<std::uint32_t*>(out));
    case DType::kU64:
    case DType::kI64:
      return copy_values(field, records, stride, count, reinterpret_cast<std::uint64_t*>(out));
    case DType::kF32:
      copy_values(field, records, stride, count, reinterpret_cast<float*>(out));
      return blank_no_data(field, count, reinterpret_cast<float*>(out));
    case DType::kF64:
      copy_values(field, records, stride, count, reinterpret_cast<double*>(out));
      return blank_no_data(field, count, reinterpret_cast<double*>(out));
    case DType::kRgb16:
      return copy_values(field, records, stride, count, reinterpret_cast<Rgb16*>(out));
    case DType::kVec3d:
      break;
  }
  throw Error(ErrorCode::kInternal, "no LAS field holds a vector");
}

}  // namespace pc::io::las

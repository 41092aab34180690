#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/platform.h"
#include "io/las.h"

/// Layout constants and building blocks shared by the LAS reader and writer; not part of their interface.
namespace pc::io::las {

static_assert(std::endian::native == std::endian::little, "LAS is little-endian and is read in place");

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

constexpr int kMaxPointFormat = 10;
constexpr int kCompressedBit = 128;  ///< of the point format: LAZ
constexpr std::size_t kMinHeaderBytes = 227;
constexpr std::size_t kHeaderBytes12 = 227, kHeaderBytes14 = 375;
constexpr std::size_t kVlrHeaderBytes = 54, kEvlrHeaderBytes = 60;
constexpr std::size_t kExtraBytesRecord = 192;  ///< one descriptor of the Extra Bytes VLR
constexpr std::uint16_t kExtraBytesId = 4, kWktId = 2112, kGeoKeysId = 34735, kGeoDoublesId = 34736,
                        kGeoAsciiId = 34737;
constexpr const char* kSpecUser = "LASF_Spec";
constexpr const char* kProjectionUser = "LASF_Projection";

/// Byte offsets of the optional parts of a point record; 0 = the format has none.
struct PointLayout {
  std::uint16_t bytes, gps_time, rgb, nir, wave;
};
constexpr PointLayout kPointLayouts[kMaxPointFormat + 1] = {
    {20, 0, 0, 0, 0},    {28, 20, 0, 0, 0},   {26, 0, 20, 0, 0},   {34, 20, 28, 0, 0},
    {57, 20, 0, 0, 28},  {63, 20, 28, 0, 34}, {30, 22, 0, 0, 0},   {36, 22, 30, 0, 0},
    {38, 22, 30, 36, 0}, {59, 22, 0, 0, 30},  {67, 22, 30, 36, 38}};

/// A fixed field of a point record: an integer at `offset`, or `bits` bits of the byte at `offset`, from bit `shift`
/// on.
struct StandardField {
  const char* name;
  const char* description;
  DType dtype;
  std::uint16_t offset;
  std::uint8_t shift, bits;  ///< bits == 0: the whole value
};

/// All fields of a point format after x, y, z, in record order.
std::vector<StandardField> standard_fields(int point_format);

/// How stored numbers are converted to values.
struct Coding {
  DType stored = DType::kU8;  ///< type in the record
  bool scaled = false, has_no_data = false;
  double scale = 1.0, shift_by = 0.0;  ///< value = raw * scale + shift_by
  std::uint64_t no_data_bits = 0;      ///< as stored: u64, i64 or f64 according to `stored`
};

/// A column of the file: the position of its bytes and their conversion to values.
struct Field : Coding {
  LasDimension dimension;
  std::uint16_t offset = 0;
  std::uint8_t shift = 0, bits = 0;
};

/// Bytes of a point that Extra Bytes descriptors describe; nothing if one has an invalid data type.
std::optional<std::size_t> described_bytes(Span<const std::uint8_t> descriptors);
/// Appends the columns of the extra bytes [standard_bytes, record_bytes), described by the Extra Bytes VLR payload
/// (may be empty), to `fields`, and problems to `warnings`. Throws kUnsupported for more than kMaxExtraColumns columns.
void append_extra_fields(Span<const std::uint8_t> descriptors, std::size_t standard_bytes,
                         std::size_t record_bytes, std::vector<Field>& fields,
                         std::vector<std::string>& warnings);
constexpr std::size_t kMaxExtraColumns = 4096;

/// The header and how to decode its columns (header.dimensions[i] belongs to fields[i]).
struct Opened {
  LasHeader header;
  std::vector<Field> fields;
  std::uint64_t points_end = 0;  ///< end of the point data: EVLRs or the end of the file
};
Opened open_las(const platform::File& file);

/// Decodes `count` records of `stride` bytes from `records` into `out`, the column's first element to fill.
void decode_field(const Field& field, const std::uint8_t* records, std::size_t stride, std::size_t count,
                  std::byte* out);

/// A number in a message: nine digits, no trailing zeros.
std::string number_text(double value);

/// Text of a fixed-size field: up to the first NUL, without trailing blanks, as valid UTF-8 (other bytes as Latin-1).
std::string fixed_text(const std::uint8_t* from, std::size_t bytes);

}  // namespace pc::io::las

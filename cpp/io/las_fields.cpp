#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/error.h"
#include "io/las_format.h"

namespace pc::io::las {

namespace {

constexpr const char* kScanAngle = "scan angle in steps of 0.006 degree, positive to the right";
constexpr const char* kScanAngleRank = "scan angle, whole degrees, left negative";

void append_flags(std::vector<StandardField>& fields, bool extended) {
  if (!extended) {
    fields.push_back({"return_number", "", DType::kU8, 14, 0, 3});
    fields.push_back({"number_of_returns", "", DType::kU8, 14, 3, 3});
    fields.push_back({"scan_direction_flag", "1 = positive scan direction", DType::kU8, 14, 6, 1});
    fields.push_back({"edge_of_flight_line", "", DType::kU8, 14, 7, 1});
    fields.push_back({"classification", "", DType::kU8, 15, 0, 5});
    fields.push_back({"synthetic", "", DType::kU8, 15, 5, 1});
    fields.push_back({"key_point", "", DType::kU8, 15, 6, 1});
    fields.push_back({"withheld", "", DType::kU8, 15, 7, 1});
    fields.push_back({"scan_angle_rank", kScanAngleRank, DType::kI8, 16, 0, 0});
    fields.push_back({"user_data", "", DType::kU8, 17, 0, 0});
    fields.push_back({"point_source_id", "", DType::kU16, 18, 0, 0});
    return;
  }
  fields.push_back({"return_number", "", DType::kU8, 14, 0, 4});
  fields.push_back({"number_of_returns", "", DType::kU8, 14, 4, 4});
  fields.push_back({"synthetic", "", DType::kU8, 15, 0, 1});
  fields.push_back({"key_point", "", DType::kU8, 15, 1, 1});
  fields.push_back({"withheld", "", DType::kU8, 15, 2, 1});
  fields.push_back({"overlap", "", DType::kU8, 15, 3, 1});
  fields.push_back({"scanner_channel", "", DType::kU8, 15, 4, 2});
  fields.push_back({"scan_direction_flag", "1 = positive scan direction", DType::kU8, 15, 6, 1});
  fields.push_back({"edge_of_flight_line", "", DType::kU8, 15, 7, 1});
  fields.push_back({"classification", "", DType::kU8, 16, 0, 0});
  fields.push_back({"user_data", "", DType::kU8, 17, 0, 0});
  fields.push_back({"scan_angle", kScanAngle, DType::kI16, 18, 0, 0});
  fields.push_back({"point_source_id", "", DType::kU16, 20, 0, 0});
}

void append_wave_packet(std::vector<StandardField>& fields, std::uint16_t at) {
  const auto place = [&](std::size_t bytes) { return static_cast<std::uint16_t>(at + bytes); };
  fields.push_back(
      {"wave_packet_index", "wave packet descriptor, 0 = no waveform", DType::kU8, place(0), 0, 0});
  fields.push_back(
      {"wave_packet_offset", "bytes from the start of the waveform data", DType::kU64, place(1), 0, 0});
  fields.push_back({"wave_packet_size", "bytes", DType::kU32, place(9), 0, 0});
  fields.push_back(
      {"return_point_location", "picoseconds from the first sample", DType::kF32, place(13), 0, 0});
  fields.push_back({"x_t", "waveform direction, file units per picosecond", DType::kF32, place(17), 0, 0});
  fields.push_back({"y_t", "waveform direction, file units per picosecond", DType::kF32, place(21), 0, 0});
  fields.push_back({"z_t", "waveform direction, file units per picosecond", DType::kF32, place(25), 0, 0});
}

bool is_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    const auto second = length > 1 ? static_cast<unsigned char>(text[i + 1]) : 0x80;
    // Overlong forms, surrogates and code points above U+10FFFF (RFC 3629 section 4).
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    i += length;
  }
  return true;
}

/// One element of an Extra Bytes descriptor (192 bytes: 2 type, 3 options, 4 name, 40 no_data, 112 scale, 136
/// offset, 160 description; three 8-byte slots each).
struct Descriptor {
  const std::uint8_t* at;
  int type() const { return at[2]; }
  int options() const { return at[3]; }
  std::string name() const { return fixed_text(at + 4, 32); }
  std::string description() const { return fixed_text(at + 160, 32); }
  std::uint64_t no_data(int element) const { return load<std::uint64_t>(at + 40 + 8 * element); }
  double scale(int element) const { return load<double>(at + 112 + 8 * element); }
  double offset(int element) const { return load<double>(at + 136 + 8 * element); }

  /// 0: bytes without a type; else 1 to 3 elements of element_type().
  int elements() const { return type() == 0 ? 0 : 1 + (type() - 1) / 10; }
  DType element_type() const {
    constexpr DType kTypes[10] = {DType::kU8,  DType::kI8,  DType::kU16, DType::kI16, DType::kU32,
                                  DType::kI32, DType::kU64, DType::kI64, DType::kF32, DType::kF64};
    return kTypes[(type() - 1) % 10];
  }
  std::size_t bytes() const {
    return type() == 0 ? static_cast<std::size_t>(options())
                       : static_cast<std::size_t>(elements()) * dtype_size(element_type());
  }
};

std::string no_data_text(DType type, std::uint64_t bits) {
  switch (type) {
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return std::to_string(static_cast<std::int64_t>(bits));
    case DType::kF32:
    case DType::kF64:
      return number_text(std::bit_cast<double>(bits));
    default:
      break;
  }
  // Some writers sign-extend all ones; the value meant is the type's own maximum.
  const std::size_t width = 8 * dtype_size(type);
  if (width < 64 && (bits >> width) == (~std::uint64_t{0} >> width)) bits &= (std::uint64_t{1} << width) - 1;
  return std::to_string(bits);
}

std::string element_name(std::string name, std::size_t element) {
  return name.append("[").append(std::to_string(element)).append("]");
}

void append_element(const Descriptor& descriptor, int element, std::size_t offset, std::vector<Field>& fields,
                    std::vector<std::string>& warnings) {
  Field field;
  field.stored = descriptor.element_type();
  field.offset = static_cast<std::uint16_t>(offset);
  auto& dimension = field.dimension;
  dimension.extra = true;
  dimension.name = descriptor.name();
  dimension.description = descriptor.description();
  if (dimension.name.empty()) dimension.name.append("extra_dimension_").append(std::to_string(fields.size()));
  if (descriptor.elements() > 1)
    dimension.name = element_name(dimension.name, static_cast<std::size_t>(element));
  const bool has_scale = (descriptor.options() & 8) != 0, has_offset = (descriptor.options() & 16) != 0;
  const double scale = has_scale ? descriptor.scale(element) : 1.0;
  const double shift_by = has_offset ? descriptor.offset(element) : 0.0;
  const bool usable = std::isfinite(scale) && scale != 0.0 && std::isfinite(shift_by);
  if ((has_scale || has_offset) && !usable) {
    warnings.push_back("extra bytes '" + dimension.name + "': scale " + number_text(scale) + ", offset " +
                       number_text(shift_by) + " cannot be used; the stored values are given as they are");
  } else {
    field.scaled = has_scale || has_offset;
    field.scale = scale;
    field.shift_by = shift_by;
  }
  dimension.dtype = field.scaled ? DType::kF64 : field.stored;
  field.has_no_data = (descriptor.options() & 1) != 0;
  field.no_data_bits = descriptor.no_data(element);
  dimension.record = LasExtraRecord{dimension.name, dimension.description, field.stored, {}, {}, {}};
  if (field.scaled && has_scale) dimension.record->scale = scale;
  if (field.scaled && has_offset) dimension.record->offset = shift_by;
  if (field.has_no_data) dimension.record->no_data_bits = field.no_data_bits;
  if (field.has_no_data && !field.scaled && field.stored != DType::kF32 && field.stored != DType::kF64) {
    dimension.description += (dimension.description.empty() ? "no-data value " : "; no-data value ") +
                             no_data_text(field.stored, field.no_data_bits);
  }
  fields.push_back(std::move(field));
}

void append_raw_bytes(const std::string& name, const std::string& description, std::size_t first,
                      std::size_t count, std::size_t index, std::vector<Field>& fields) {
  for (std::size_t i = 0; i < count; ++i) {
    Field field;
    field.offset = static_cast<std::uint16_t>(first + i);
    field.dimension.extra = true;
    field.dimension.description = description;
    field.dimension.name = !name.empty() && count > 1 ? element_name(name, i) : name;
    if (name.empty())
      field.dimension.name.append("extra_bytes_").append(std::to_string(index + i));
    else
      field.dimension.record = LasExtraRecord{field.dimension.name, description, DType::kU8, {}, {}, {}};
    fields.push_back(std::move(field));
  }
}

}  // namespace

std::vector<StandardField> standard_fields(int point_format) {
  std::vector<StandardField> fields;
  const PointLayout& layout = kPointLayouts[point_format];
  fields.push_back({"intensity", "", DType::kU16, 12, 0, 0});
  append_flags(fields, point_format >= 6);
  if (layout.gps_time != 0) fields.push_back({"gps_time", "seconds", DType::kF64, layout.gps_time, 0, 0});
  if (layout.rgb != 0)
    fields.push_back({"rgb", "red, green, blue, 16 bits each", DType::kRgb16, layout.rgb, 0, 0});
  if (layout.nir != 0) fields.push_back({"nir", "near infrared", DType::kU16, layout.nir, 0, 0});
  if (layout.wave != 0) append_wave_packet(fields, layout.wave);
  return fields;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string fixed_text(const std::uint8_t* from, std::size_t bytes) {
  std::string text(reinterpret_cast<const char*>(from),
                   std::find(from, from + bytes, std::uint8_t{0}) - from);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  const bool keep = is_utf8(text);
  std::string clean;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      clean += ' ';
    } else if (byte < 0x80 || keep) {
      clean += c;
    } else {
      clean += static_cast<char>(0xC0 | (byte >> 6));
      clean += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return clean;
}

std::optional<std::size_t> described_bytes(Span<const std::uint8_t> descriptors) {
  std::size_t described = 0;
  for (std::size_t i = 0; i < descriptors.size / kExtraBytesRecord; ++i) {
    const Descriptor descriptor{descriptors.data + i * kExtraBytesRecord};
    if (descriptor.type() > 30) return std::nullopt;
    described += descriptor.bytes();
  }
  return described;
}

void append_extra_fields(Span<const std::uint8_t> descriptors, std::size_t standard_bytes,
                         std::size_t record_bytes, std::vector<Field>& fields,
                         std::vector<std::string>& warnings) {
  const std::size_t present = record_bytes - standard_bytes;
  std::size_t count = descriptors.size / kExtraBytesRecord;
  const std::optional<std::size_t> known = described_bytes(descriptors);
  std::size_t described = known.value_or(0);
  if (!known || described > present) {
    warnings.push_back("the Extra Bytes record describes " +
                       (known ? std::to_string(described) + " bytes a point, but the points carry only " +
                                    std::to_string(present)
                              : std::string("a data type above 30")) +
                       "; it is not valid, and the extra bytes are given one by one as extra_bytes_<i>");
    count = described = 0;
  }
  std::size_t columns = present - described;
  for (std::size_t i = 0; i < count; ++i) {
    const Descriptor descriptor{descriptors.data + i * kExtraBytesRecord};
    columns += descriptor.type() == 0 ? descriptor.bytes() : static_cast<std::size_t>(descriptor.elements());
  }
  if (columns > kMaxExtraColumns) {
    throw Error(ErrorCode::kUnsupported,
                "the records carry " + std::to_string(columns) + " extra columns, more than the " +
                    std::to_string(kMaxExtraColumns) +
                    " that can be read; write the file without the undescribed bytes");
  }
  std::size_t at = standard_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const Descriptor descriptor{descriptors.data + i * kExtraBytesRecord};
    if (descriptor.type() == 0) {
      append_raw_bytes(descriptor.name(), descriptor.description(), at, descriptor.bytes(),
                       at - standard_bytes, fields);
    } else {
      for (int element = 0; element < descriptor.elements(); ++element) {
        const std::size_t place =
            at + static_cast<std::size_t>(element) * dtype_size(descriptor.element_type());
        append_element(descriptor, element, place, fields, warnings);
      }
    }
    at += descriptor.bytes();
  }
  append_raw_bytes("", "extra byte without a description", at, record_bytes - at, at - standard_bytes,
                   fields);
}

}  // namespace pc::io::las

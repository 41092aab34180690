#include "binding/las_values.h"

#include "binding/js_values.h"

namespace pc::binding {

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Two lower-case hexadecimal digits per byte.
std::string to_hex(const std::uint8_t* bytes, std::size_t size) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 15U];
  }
  return text;
}

/// Parses lower-case hexadecimal digits, two per byte.
Bytes from_hex(const std::string& text, const char* what) {
  const bool digits = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!digits || text.size() % 2 != 0) refuse(what, "pairs of hexadecimal digits");
  const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  Bytes bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(digit(text[2 * i]) << 4U | digit(text[2 * i + 1]));
  return bytes;
}

Napi::Value geotiff_to_js(Napi::Env env, const io::GeotiffRecords& geotiff) {
  if (geotiff.directory.empty()) return env.Null();
  auto out = Napi::Object::New(env);
  const auto set = [&](const char* name, const Bytes& bytes) {
    out.Set(name, to_hex(bytes.data(), bytes.size()));
  };
  set("directory", geotiff.directory);
  set("doubles", geotiff.doubles);
  set("ascii", geotiff.ascii);
  return out;
}

Napi::Value record_to_js(Napi::Env env, const std::optional<io::LasExtraRecord>& record) {
  if (!record) return env.Null();
  const auto number = [&](const std::optional<double>& value) -> Napi::Value {
    if (!value) return env.Null();
    return Napi::Number::New(env, *value);
  };
  auto out = Napi::Object::New(env);
  out.Set("name", record->name);
  out.Set("description", record->description);
  out.Set("stored", dtype_name(record->stored));
  out.Set("scale", number(record->scale));
  out.Set("offset", number(record->offset));
  out.Set("no_data", env.Null());
  if (record->no_data_bits) {
    std::uint8_t bytes[8];
    for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(*record->no_data_bits >> (8 * i));
    out.Set("no_data", to_hex(bytes, sizeof bytes));
  }
  return out;
}

DType scalar_type(const Napi::Object& record) {
  return strict_choice<DType>(record.Get("stored"), "stored",
                              {{"u8", DType::kU8},
                               {"i8", DType::kI8},
                               {"u16", DType::kU16},
                               {"i16", DType::kI16},
                               {"u32", DType::kU32},
                               {"i32", DType::kI32},
                               {"u64", DType::kU64},
                               {"i64", DType::kI64},
                               {"f32", DType::kF32},
                               {"f64", DType::kF64}});
}

std::optional<io::LasExtraRecord> record_of(const Napi::Value& value) {
  if (value.IsNull()) return std::nullopt;
  const auto js = strict_object(value, "record");
  const auto number = [&](const char* name) -> std::optional<double> {
    if (js.Get(name).IsNull()) return std::nullopt;
    return number_field(js, name);
  };
  io::LasExtraRecord record{string_field(js, "name"), string_field(js, "description"),
                            scalar_type(js),          number("scale"),
                            number("offset"),         std::nullopt};
  const Bytes bytes = from_hex(optional_string_field(js, "no_data"), "no_data");
  if (!bytes.empty()) {
    if (bytes.size() != 8) refuse("no_data", "8 bytes");
    std::uint64_t bits = 0;
    for (std::size_t i = 8; i-- > 0;) bits = bits << 8U | bytes[i];
    record.no_data_bits = bits;
  }
  return record;
}

}  // namespace

Napi::Object to_js(Napi::Env env, const io::LasCrs& crs) {
  auto out = Napi::Object::New(env);
  const auto number = [&](const auto& value) -> Napi::Value {
    if (!value) return env.Null();
    return Napi::Number::New(env, static_cast<double>(*value));
  };
  out.Set("epsg", number(crs.epsg));
  out.Set("vertical_epsg", number(crs.vertical_epsg));
  out.Set("is_geographic", crs.is_geographic);
  out.Set("unit_m", number(crs.unit_m));
  out.Set("unit_name", crs.unit_name);
  out.Set("vertical_unit_m", number(crs.vertical_unit_m));
  out.Set("vertical_unit_name", crs.vertical_unit_name);
  out.Set("wkt", crs.wkt);
  out.Set("citation", crs.citation);
  out.Set("geotiff", geotiff_to_js(env, crs.geotiff));
  out.Set("warnings", to_js(env, crs.warnings));
  return out;
}

namespace {

Napi::Array dimensions_to_js(Napi::Env env, const std::vector<io::LasDimension>& dimensions) {
  auto out = Napi::Array::New(env, dimensions.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    auto dimension = Napi::Object::New(env);
    dimension.Set("name", dimensions[i].name);
    dimension.Set("description", dimensions[i].description);
    dimension.Set("extra", dimensions[i].extra);
    dimension.Set("dtype", dtype_name(dimensions[i].dtype));
    dimension.Set("record", record_to_js(env, dimensions[i].record));
    out.Set(static_cast<std::uint32_t>(i), dimension);
  }
  return out;
}

}  // namespace

Napi::Object to_js(Napi::Env env, const io::LasHeader& header) {
  auto out = Napi::Object::New(env);
  out.Set("version_major", header.version_major);
  out.Set("version_minor", header.version_minor);
  out.Set("point_format", header.point_format);
  out.Set("compressed", header.compressed);
  out.Set("record_bytes", header.record_bytes);
  out.Set("gps_time_encoding", header.gps_time_encoding);
  out.Set("system_identifier", header.system_identifier);
  out.Set("generating_software", header.generating_software);
  out.Set("scale", to_js(env, header.scale));
  out.Set("offset", to_js(env, header.offset));
  out.Set("declared_bounds", to_js(env, header.declared_bounds));
  out.Set("declared_point_count", static_cast<double>(header.declared_point_count));
  out.Set("present_point_count", static_cast<double>(header.present_point_count));
  out.Set("dimensions", dimensions_to_js(env, header.dimensions));
  out.Set("crs", to_js(env, header.crs));
  out.Set("warnings", to_js(env, header.warnings));
  return out;
}

io::LasWriteParams las_write_params(const Napi::Object& js) {
  io::LasWriteParams params;
  params.version = strict_choice<io::LasVersion>(
      js.Get("version"), "version", {{"1.2", io::LasVersion::k12}, {"1.4", io::LasVersion::k14}});
  params.compressed = bool_field(js, "compressed");
  params.scale_m = number_field(js, "scale_m");
  params.step_known = bool_field(js, "step_known");
  params.adjusted_standard_time = bool_field(js, "adjusted_standard_time");
  params.epsg = whole_field<int>(js, "epsg");
  params.epsg_is_geographic = bool_field(js, "epsg_is_geographic");
  params.wkt = string_field(js, "wkt");
  params.legacy_points = bool_field(js, "legacy_points");
  if (!js.Get("grid").IsNull()) {
    const auto grid = object_field(js, "grid");
    params.grid = io::LasGrid{vec3_field(grid, "scale"), vec3_field(grid, "offset")};
  }
  const auto placements = array_field(js, "placements");
  for (std::uint32_t i = 0; i < placements.Length(); ++i) {
    const auto placement = strict_object(placements.Get(i), "placement");
    params.placements.push_back({string_field(placement, "slug"), string_field(placement, "field"),
                                 record_of(placement.Get("record"))});
  }
  const auto constants = array_field(js, "constants");
  for (std::uint32_t i = 0; i < constants.Length(); ++i) {
    const auto constant = strict_object(constants.Get(i), "constant");
    params.constants.push_back({string_field(constant, "field"), number_field(constant, "value")});
  }
  if (!js.Get("geotiff").IsNull()) {
    const auto geotiff = object_field(js, "geotiff");
    const auto bytes = [&](const char* name) { return from_hex(string_field(geotiff, name), name); };
    params.geotiff = {bytes("directory"), bytes("doubles"), bytes("ascii")};
  }
  params.system_identifier = string_field(js, "system_identifier");
  params.generating_software = string_field(js, "generating_software");
  params.creation_day_of_year = whole_field<int>(js, "creation_day_of_year");
  params.creation_year = whole_field<int>(js, "creation_year");
  return params;
}

}  // namespace pc::binding

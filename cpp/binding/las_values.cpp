#include "binding/las_values.h"

namespace pc::binding {

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

}  // namespace pc::binding

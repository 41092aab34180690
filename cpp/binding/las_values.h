#pragma once
#include "binding/js_values.h"
#include "io/las.h"

namespace pc::binding {

/// The header as a plain object: field names as in io::LasHeader, bounds in file units.
Napi::Object to_js(Napi::Env env, const io::LasHeader& header);
Napi::Object to_js(Napi::Env env, const io::LasCrs& crs);

/// Reads the LasWriteParams of the TypeScript facade.
io::LasWriteParams las_write_params(const Napi::Object& js);

}  // namespace pc::binding

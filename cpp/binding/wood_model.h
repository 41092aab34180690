#pragma once
#include "binding/napi_setup.h"

namespace pc::binding {

/// Adds the functions of the networks for wood and leaf to the addon's exports.
void register_wood_model(Napi::Env env, Napi::Object exports);

}  // namespace pc::binding

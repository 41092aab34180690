#pragma once
#include "binding/napi_setup.h"

namespace pc::binding {

/// Adds phyllotaxis, leaf placement and leaf angles to the addon's exports.
void register_leaves(Napi::Env env, Napi::Object exports);

}  // namespace pc::binding

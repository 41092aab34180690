#pragma once
#include "binding/napi_setup.h"

namespace pc::binding {

void register_wood(Napi::Env env, Napi::Object exports);

}  // namespace pc::binding

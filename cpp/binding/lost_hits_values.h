#pragma once
#include "binding/napi_setup.h"
#include "ops/lad/lost_hits.h"

namespace pc::binding {

/// { looked_at, between, lost }
inline Napi::Value lost_hits_to_js(Napi::Env env, LostHits&& found) {
  auto out = Napi::Object::New(env);
  out.Set("looked_at", static_cast<double>(found.looked_at));
  out.Set("between", static_cast<double>(found.between));
  out.Set("lost", static_cast<double>(found.lost));
  return out;
}

}  // namespace pc::binding

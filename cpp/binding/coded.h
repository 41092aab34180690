#pragma once
#include "binding/job.h"

namespace pc::binding {

/// Errors of reading the arguments leave with a code, as those of the job do.
template <Napi::Value (*kFunction)(const Napi::CallbackInfo&)>
Napi::Value coded(const Napi::CallbackInfo& info) {
  try {
    return kFunction(info);
  } catch (const Error& error) {
    throw to_js_error(info.Env(), error);
  } catch (Napi::Error& error) {
    error.Set("code", to_string(ErrorCode::kInvalidArgument));
    throw;
  }
}

template <Napi::Value (*kFunction)(const Napi::CallbackInfo&)>
void add(Napi::Env env, Napi::Object& exports, const char* name) {
  exports.Set(name, Napi::Function::New<coded<kFunction>>(env, name));
}

}  // namespace pc::binding

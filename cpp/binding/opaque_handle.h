#pragma once
#include <memory>
#include <string>
#include <utility>

#include "binding/napi_setup.h"
#include "core/error.h"
#include "core/free_later.h"

namespace pc::binding {

/// JS handle of an immutable native value: an object with release() and nothing else, type-tagged, so that a foreign
/// object is refused. The value lives until the last handle is released or collected and the last job that uses it has
/// ended; large values are freed on a thread of their own.
template <class T>
class OpaqueHandle {
 public:
  using Pointer = std::shared_ptr<const T>;

  static Napi::Object wrap(Napi::Env env, Pointer value, const napi_type_tag& tag) {
    auto object = Napi::Object::New(env);
    auto holder = std::make_shared<Pointer>(std::move(value));
    object.Set("release",
               Napi::Function::New(env, [holder](const Napi::CallbackInfo&) { free_later(*holder); }));
    auto owned = std::make_unique<std::shared_ptr<Pointer>>(holder);
    if (napi_wrap(env, object, owned.get(), finalize, nullptr, nullptr) != napi_ok ||
        napi_type_tag_object(env, object, &tag) != napi_ok)
      throw Error(ErrorCode::kInternal, "a native value cannot be wrapped");
    (void)owned.release();  // by finalize
    return object;
  }

  static Pointer get(const Napi::Value& value, const napi_type_tag& tag, const char* what) {
    bool ours = false;
    if (value.IsObject()) napi_check_object_type_tag(value.Env(), value, &tag, &ours);
    if (!ours) throw Error(ErrorCode::kInvalidArgument, std::string(what) + " is needed");
    void* data = nullptr;
    if (napi_unwrap(value.Env(), value, &data) != napi_ok)
      throw Error(ErrorCode::kInternal, "a native value cannot be unwrapped");
    const Pointer& pointer = **static_cast<std::shared_ptr<Pointer>*>(data);
    if (!pointer) throw Error(ErrorCode::kInvalidArgument, std::string(what) + " was already released");
    return pointer;
  }

 private:
  static void finalize(napi_env, void* data, void*) {
    const auto holder = static_cast<std::shared_ptr<Pointer>*>(data);
    free_later(**holder);
    delete holder;
  }
};

}  // namespace pc::binding

#pragma once
#include "binding/napi_setup.h"

/// One function per format; register_readers adds them to the addon.
namespace pc::binding {

Napi::Value read_las(const Napi::CallbackInfo& info);
Napi::Value read_las_header(const Napi::CallbackInfo& info);
Napi::Value read_text(const Napi::CallbackInfo& info);
Napi::Value sample_text(const Napi::CallbackInfo& info);
Napi::Value read_ply(const Napi::CallbackInfo& info);
Napi::Value read_ply_header(const Napi::CallbackInfo& info);
Napi::Value read_pcd(const Napi::CallbackInfo& info);
Napi::Value read_pcd_header(const Napi::CallbackInfo& info);
Napi::Value read_e57(const Napi::CallbackInfo& info);
Napi::Value read_pcd_sample(const Napi::CallbackInfo& info);
Napi::Value read_e57_header(const Napi::CallbackInfo& info);
Napi::Value read_e57_sample(const Napi::CallbackInfo& info);
Napi::Value read_ptx(const Napi::CallbackInfo& info);
Napi::Value read_ptx_head(const Napi::CallbackInfo& info);

}  // namespace pc::binding

#include "binding/coded.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "core/gpu.h"

namespace pc::binding {

namespace {

// probeDevice(folder: string): NativeJob<NativeDeviceInfo>
Napi::Value probe_device(const Napi::CallbackInfo& info) {
  const std::string folder = strict_string(info[0], "folder");
  return start_job<GpuInfo>(
      info.Env(), JobOptions{},
      [folder](OpContext&) {
        gpu_load(folder);
        return gpu_info();
      },
      [](Napi::Env env, GpuInfo&& found) -> Napi::Value {
        const auto text = [&](const std::string& value) -> Napi::Value {
          if (value.empty()) return env.Null();
          return Napi::String::New(env, value);
        };
        auto out = Napi::Object::New(env);
        out.Set("gpu_count", found.present ? found.device_count : 0);
        out.Set("gpu_name", text(found.name));
        out.Set("driver_version", text(found.driver_version));
        out.Set("reason", found.reason);
        return out;
      });
}

}  // namespace

void register_device(Napi::Env env, Napi::Object exports) { add<probe_device>(env, exports, "probeDevice"); }

}  // namespace pc::binding

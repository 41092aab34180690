#include "binding/scan_fit.h"

namespace pc {

Napi::Value offsets_to_js(Napi::Env env, const std::vector<ScanOffset>& offsets) {
  auto out = Napi::Array::New(env, offsets.size());
  for (std::uint32_t i = 0; i < offsets.size(); ++i) {
    auto one = Napi::Object::New(env);
    one.Set("scan_a", offsets[i].scan_a);
    one.Set("scan_b", offsets[i].scan_b);
    one.Set("n_stems", offsets[i].stems);
    one.Set("x_m", offsets[i].x_m);
    one.Set("y_m", offsets[i].y_m);
    one.Set("spread_m", offsets[i].spread_m);
    out.Set(i, one);
  }
  return out;
}

Napi::Value views_to_js(Napi::Env env, const std::optional<ViewFit>& views) {
  if (!views) return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("n_stems", views->stems);
  out.Set("spread_m", views->spread_m);
  out.Set("rest_m", views->rest_m);
  out.Set("drifts", views->drifts);
  out.Set("aligned", views->aligned);
  return out;
}

Napi::Value layers_to_js(Napi::Env env, const std::optional<ScanLayers>& layers) {
  if (!layers) return env.Null();
  const LayerMotion& motion = layers->motion;
  auto out = Napi::Object::New(env);
  out.Set("n_stems", motion.stems);
  out.Set("n_seen_twice", motion.of);
  out.Set("x_m", motion.apart.x);
  out.Set("y_m", motion.apart.y);
  out.Set("turn_rad", motion.turn);
  auto middle = Napi::Array::New(env, 2);
  middle.Set(0U, motion.middle.x);
  middle.Set(1U, motion.middle.y);
  out.Set("middle", middle);
  out.Set("joins", layers->joins);
  out.Set("n_joined", layers->joined);
  return out;
}

}  // namespace pc

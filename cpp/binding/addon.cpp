#include <memory>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/js_values.h"
#include "binding/leaves.h"
#include "binding/wood_model.h"
#include "core/free_later.h"
#include "core/memory.h"
#include "core/page_pool.h"
#include "core/parallel.h"
#include "core/platform.h"

namespace {

// bulkBytesInUse(): number - bytes in anonymous native pages once all frees have ended, which it waits for: for tests
Napi::Value bulk_bytes_in_use(const Napi::CallbackInfo& info) {
  pc::await_frees();
  return Napi::Number::New(info.Env(), static_cast<double>(pc::bulk_bytes_in_use()));
}

// reusePages(bytes: number): () => void - the returned function, or its finalizer, ends the reuse
Napi::Value reuse_pages(const Napi::CallbackInfo& info) {
  auto held = std::make_shared<std::unique_ptr<pc::PageReuse>>(
      std::make_unique<pc::PageReuse>(pc::binding::strict_whole(info[0], "bytes")));
  return Napi::Function::New(info.Env(), [held](const Napi::CallbackInfo&) { held->reset(); });
}

// setThreadsOfJobs(threads: number): number - for later jobs, 0 = all cores; returns the previous number
Napi::Value set_threads_of_jobs(const Napi::CallbackInfo& info) {
  const int threads = pc::binding::strict_threads(info[0]);
  return Napi::Number::New(info.Env(), pc::binding::set_threads_of_jobs(threads));
}

// takeThreadShortage(): { wanted, started } | null - the first team of compute threads since the last call that the system
// did not start in full
Napi::Value take_thread_shortage(const Napi::CallbackInfo& info) {
  const auto shortage = pc::take_team_shortage();
  if (!shortage) return info.Env().Null();
  auto js = Napi::Object::New(info.Env());
  js.Set("wanted", Napi::Number::New(info.Env(), shortage->wanted));
  js.Set("started", Napi::Number::New(info.Env(), shortage->started));
  return js;
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  pc::platform::return_freed_memory();
  pc::binding::ColumnHandle::define(env, exports);
  pc::binding::register_column_files(env, exports);
  pc::binding::register_readers(env, exports);
  pc::binding::register_mesh_readers(env, exports);
  pc::binding::register_mesh_picture(env, exports);
  pc::binding::register_writers(env, exports);
  pc::binding::register_cloud(env, exports);
  pc::binding::register_cloud_edit(env, exports);
  pc::binding::register_denoise(env, exports);
  pc::binding::register_octree(env, exports);
  pc::binding::register_ground(env, exports);
  pc::binding::register_dem(env, exports);
  pc::binding::register_request_text(env, exports);
  pc::binding::register_surfaces(env, exports);
  pc::binding::register_scan_meshes(env, exports);
  pc::binding::register_registration(env, exports);
  pc::binding::register_icp(env, exports);
  pc::binding::register_reconstruction(env, exports);
  pc::binding::register_lad(env, exports);
  pc::binding::register_lad_inversion(env, exports);
  pc::binding::register_capture_recapture(env, exports);
  pc::binding::register_inventory(env, exports);
  pc::binding::register_stems(env, exports);
  pc::binding::register_cut_trees(env, exports);
  pc::binding::register_flat_trees(env, exports);
  pc::binding::register_ground_layers(env, exports);
  pc::binding::register_mirror_images(env, exports);
  pc::binding::register_fit(env, exports);
  pc::binding::register_leaf_optics(env, exports);
  pc::binding::register_curve_fit(env, exports);
  pc::binding::register_plant_shapes(env, exports);
  pc::binding::register_lists(env, exports);
  pc::binding::register_leaves(env, exports);
  pc::binding::register_plants(env, exports);
  pc::binding::register_plant_geometry(env, exports);
  pc::binding::register_qsm(env, exports);
  pc::binding::register_qsm_trees(env, exports);
  pc::binding::register_trees(env, exports);
  pc::binding::register_wood(env, exports);
  pc::binding::register_qsm_build(env, exports);
  pc::binding::register_skeleton(env, exports);
  pc::binding::register_wood_model(env, exports);
  pc::binding::register_ray(env, exports);
  pc::binding::register_beam_origins(env, exports);
  pc::binding::register_miss_recovery(env, exports);
  pc::binding::register_archive(env, exports);
  pc::binding::register_device(env, exports);
  pc::binding::add<bulk_bytes_in_use>(env, exports, "bulkBytesInUse");
  pc::binding::add<reuse_pages>(env, exports, "reusePages");
  pc::binding::add<set_threads_of_jobs>(env, exports, "setThreadsOfJobs");
  pc::binding::add<take_thread_shortage>(env, exports, "takeThreadShortage");
  return exports;
}

}  // namespace

NODE_API_MODULE(pc, init)

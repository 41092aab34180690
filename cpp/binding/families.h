#pragma once
#include "binding/napi_setup.h"

/// One function per family: adds its functions to the addon's exports.
namespace pc::binding {

void register_column_files(Napi::Env env, Napi::Object exports);
void register_readers(Napi::Env env, Napi::Object exports);
void register_mesh_readers(Napi::Env env, Napi::Object exports);
void register_mesh_picture(Napi::Env env, Napi::Object exports);
void register_writers(Napi::Env env, Napi::Object exports);
void register_cloud(Napi::Env env, Napi::Object exports);
void register_cloud_edit(Napi::Env env, Napi::Object exports);
void register_denoise(Napi::Env env, Napi::Object exports);
void register_octree(Napi::Env env, Napi::Object exports);
void register_dem(Napi::Env env, Napi::Object exports);
void register_ground(Napi::Env env, Napi::Object exports);
void register_request_text(Napi::Env env, Napi::Object exports);
void register_surfaces(Napi::Env env, Napi::Object exports);
void register_scan_meshes(Napi::Env env, Napi::Object exports);
void register_registration(Napi::Env env, Napi::Object exports);
void register_icp(Napi::Env env, Napi::Object exports);
void register_reconstruction(Napi::Env env, Napi::Object exports);
void register_lad(Napi::Env env, Napi::Object exports);
void register_lad_inversion(Napi::Env env, Napi::Object exports);
void register_capture_recapture(Napi::Env env, Napi::Object exports);
void register_inventory(Napi::Env env, Napi::Object exports);
void register_stems(Napi::Env env, Napi::Object exports);
void register_cut_trees(Napi::Env env, Napi::Object exports);
void register_flat_trees(Napi::Env env, Napi::Object exports);
void register_ground_layers(Napi::Env env, Napi::Object exports);
void register_mirror_images(Napi::Env env, Napi::Object exports);
void register_fit(Napi::Env env, Napi::Object exports);
void register_leaf_optics(Napi::Env env, Napi::Object exports);
void register_curve_fit(Napi::Env env, Napi::Object exports);
void register_plant_shapes(Napi::Env env, Napi::Object exports);
void register_lists(Napi::Env env, Napi::Object exports);
void register_plants(Napi::Env env, Napi::Object exports);
void register_plant_geometry(Napi::Env env, Napi::Object exports);
void register_qsm(Napi::Env env, Napi::Object exports);
void register_qsm_trees(Napi::Env env, Napi::Object exports);
void register_trees(Napi::Env env, Napi::Object exports);
void register_qsm_build(Napi::Env env, Napi::Object exports);
void register_skeleton(Napi::Env env, Napi::Object exports);
void register_wood(Napi::Env env, Napi::Object exports);
void register_ray(Napi::Env env, Napi::Object exports);
void register_beam_origins(Napi::Env env, Napi::Object exports);
void register_miss_recovery(Napi::Env env, Napi::Object exports);
void register_archive(Napi::Env env, Napi::Object exports);
void register_device(Napi::Env env, Napi::Object exports);

}  // namespace pc::binding

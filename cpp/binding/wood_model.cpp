#include "binding/wood_model.h"

#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/opaque_handle.h"
#include "ops/cloud/select_hits.h"
#include "ops/qsm/plant_scale.h"
#include "ops/wood/voxel_features.h"
#include "ops/wood/voxel_hierarchy.h"

namespace pc::binding {

namespace {

constexpr napi_type_tag kCloudTag = {0x6c1f3b0a95d24e87, 0xa2d7c4e19b3f5068};
constexpr napi_type_tag kCropsTag = {0x1d9a7e42c85b4f36, 0x8e30b6f2a4c17d95};

/// The voxels of a cloud and what its crops need.
struct ModelCloud {
  ColumnPtr positions, skip;
  VoxelCloud voxels;
  VoxelFeatures features;
  std::vector<FeatureKind> kinds;
  double enlarged_by = 1;
};
using ModelCloudPtr = std::shared_ptr<const ModelCloud>;

/// Crops that are asked for and voted on in turn.
struct CropRun {
  ModelCloudPtr cloud;
  mutable std::mutex turn;
  mutable std::optional<CropSequence> crops;
  mutable std::optional<Crop> last;  ///< without a vote
};
using CropRunPtr = std::shared_ptr<const CropRun>;

std::vector<FeatureKind> kinds_of(const Napi::Value& value) {
  const auto names = strict_array(value, "kinds");
  std::vector<FeatureKind> kinds;
  for (std::uint32_t i = 0; i < names.Length(); ++i)
    kinds.push_back(strict_choice<FeatureKind>(names.Get(i), "kinds",
                                               {{"dxyz", FeatureKind::kOffset},
                                                {"reflectance", FeatureKind::kReflectance},
                                                {"local_geometry", FeatureKind::kLocalGeometry},
                                                {"path", FeatureKind::kPath},
                                                {"lines", FeatureKind::kLines}}));
  return kinds;
}
Span<const FeatureKind> view_of(const std::vector<FeatureKind>& kinds) {
  return {kinds.data(), kinds.size()};
}

// voxelFeatureWidths(): { dxyz, reflectance, local_geometry, path, lines }
Napi::Value feature_widths(const Napi::CallbackInfo& info) {
  auto out = Napi::Object::New(info.Env());
  out.Set("dxyz", feature_width(FeatureKind::kOffset));
  out.Set("reflectance", feature_width(FeatureKind::kReflectance));
  out.Set("local_geometry", feature_width(FeatureKind::kLocalGeometry));
  out.Set("path", feature_width(FeatureKind::kPath));
  out.Set("lines", feature_width(FeatureKind::kLines));
  return out;
}

// voxelCloud(positions, skip, reflectance, { finest_m, coarsest_m, most_single, kinds, enlarge_to_m }, options?):
// NativeJob<VoxelCloudInfo>
Napi::Value voxel_cloud_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = typed_column(info[1], DType::kU8, "skip");
  const auto reflectance = optional_typed_column(info[2], DType::kF32, "reflectance");
  const auto js = strict_object(info[3], "params");
  const VoxelEdges edges{.finest_m = number_field(js, "finest_m"),
                         .coarsest_m = number_field(js, "coarsest_m"),
                         .most_single = number_field(js, "most_single")};
  const std::vector<FeatureKind> kinds = kinds_of(js.Get("kinds"));
  const double enlarge_to_m = number_field(js, "enlarge_to_m");
  return start_job<ModelCloudPtr>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) -> ModelCloudPtr {
        const Span<const Vec3d> xyz = positions->as<Vec3d>();
        require(!reflectance || reflectance->size() == xyz.size, "one reflectance per row is needed");
        const auto hits = select_hits(xyz, skip->as<std::uint8_t>(), ctx);
        Column<float> of_hits;
        if (reflectance) of_hits = hit_values<float>(hits, reflectance->as<float>(), ctx);
        auto cloud = std::make_shared<ModelCloud>();
        cloud->positions = positions;
        cloud->skip = skip;
        cloud->kinds = kinds;
        const PlantScale scale = plant_scale(hits.points().xyz(), enlarge_to_m, ctx);
        cloud->enlarged_by = scale.factor;
        if (scale.factor == 1) {
          cloud->voxels = voxel_cloud(hits.points(), of_hits.view(), edges, ctx);
        } else {
          const BulkVector<Vec3d> large = enlarged(hits.points().xyz(), scale, ctx);
          const auto points = select_hits(large.view(), {}, ctx);
          cloud->voxels = voxel_cloud(points.points(), of_hits.view(), edges, ctx);
        }
        cloud->features = voxel_features(cloud->voxels, view_of(kinds), ctx);
        return cloud;
      },
      [](Napi::Env env, ModelCloudPtr&& cloud) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("voxel_count", static_cast<double>(cloud->voxels.size()));
        out.Set("voxel_m", cloud->voxels.nodes.edge_m / cloud->enlarged_by);
        out.Set("enlarged_by", cloud->enlarged_by);
        out.Set("cloud", OpaqueHandle<ModelCloud>::wrap(env, std::move(cloud), kCloudTag));
        return out;
      });
}

// voxelCrops(cloud, params: CropParams, options?): NativeJob<NativeCrops>
Napi::Value voxel_crops_job(const Napi::CallbackInfo& info) {
  const ModelCloudPtr cloud = OpaqueHandle<ModelCloud>::get(info[0], kCloudTag, "a voxel cloud");
  const auto js = strict_object(info[1], "params");
  const CropParams params{.levels = whole_field<std::uint32_t>(js, "levels"),
                          .neighbors = whole_field<std::uint32_t>(js, "neighbors"),
                          .max_voxels = whole_field<std::uint32_t>(js, "max_voxels"),
                          .inner_fraction = number_field(js, "inner_fraction"),
                          .class_count = whole_field<std::uint32_t>(js, "class_count"),
                          .hops = whole_field<std::uint32_t>(js, "hops")};
  return start_job<CropRunPtr>(
      info.Env(), job_options(info[2]),
      [cloud, params](OpContext& ctx) -> CropRunPtr {
        auto run = std::make_shared<CropRun>();
        run->cloud = cloud;
        run->crops.emplace(cloud->voxels, params, ctx);
        return run;
      },
      [](Napi::Env env, CropRunPtr&& run) -> Napi::Value {
        return OpaqueHandle<CropRun>::wrap(env, std::move(run), kCropsTag);
      });
}

Napi::ArrayBuffer floats_to_js(Napi::Env env, const std::vector<float>& values) {
  auto out = Napi::ArrayBuffer::New(env, values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(out.Data(), values.data(), values.size() * sizeof(float));
  return out;
}
Napi::ArrayBuffer indices_as_i64(Napi::Env env, const std::vector<std::uint32_t>& values) {
  auto out = Napi::ArrayBuffer::New(env, values.size() * sizeof(std::int64_t));
  auto* const to = static_cast<std::int64_t*>(out.Data());
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = values[i];
  return out;
}

/// What a network takes of a crop.
struct CropInputs {
  std::vector<std::uint32_t> voxels;
  std::vector<float> features;
  std::vector<CropLevel> levels;
  std::uint64_t claimed;
};

Napi::Value crop_to_js(Napi::Env env, std::optional<CropInputs>&& crop) {
  if (!crop) return env.Null();
  auto levels = Napi::Array::New(env, crop->levels.size());
  for (std::uint32_t l = 0; l < crop->levels.size(); ++l) {
    const CropLevel& level = crop->levels[l];
    auto one = Napi::Object::New(env);
    one.Set("positions", floats_to_js(env, level.place));
    one.Set("neighbors", indices_as_i64(env, level.neighbor));
    const bool is_last = l + 1 == crop->levels.size();
    one.Set("parent", is_last ? env.Null() : Napi::Value(indices_as_i64(env, level.parent)));
    levels.Set(l, one);
  }
  auto out = Napi::Object::New(env);
  out.Set("voxel_count", static_cast<double>(crop->voxels.size()));
  auto voxels = Napi::ArrayBuffer::New(env, crop->voxels.size() * sizeof(std::uint32_t));
  if (!crop->voxels.empty())
    std::memcpy(voxels.Data(), crop->voxels.data(), crop->voxels.size() * sizeof(std::uint32_t));
  out.Set("voxels", voxels);
  out.Set("features", floats_to_js(env, crop->features));
  out.Set("levels", levels);
  out.Set("claimed", static_cast<double>(crop->claimed));
  return out;
}

// nextCrop(crops, options?): NativeJob<NativeCrop | null>
Napi::Value next_crop_job(const Napi::CallbackInfo& info) {
  const CropRunPtr run = OpaqueHandle<CropRun>::get(info[0], kCropsTag, "crops");
  return start_job<std::optional<CropInputs>>(
      info.Env(), job_options(info[1]),
      [run](OpContext& ctx) -> std::optional<CropInputs> {
        const std::lock_guard lock(run->turn);
        require(!run->last, "the last crop has no vote yet");
        run->last = run->crops->next(ctx);
        if (!run->last) return {};
        const ModelCloud& cloud = *run->cloud;
        return CropInputs{run->last->voxel,
                          crop_features(cloud.voxels, cloud.features, *run->last, view_of(cloud.kinds)),
                          std::exchange(run->last->levels, {}), run->crops->claimed_count()};
      },
      crop_to_js);
}

// voteCrop(crops, logits: Float32Array, options?): NativeJob<null>
Napi::Value vote_crop_job(const Napi::CallbackInfo& info) {
  const CropRunPtr run = OpaqueHandle<CropRun>::get(info[0], kCropsTag, "crops");
  if (!info[1].IsTypedArray() || info[1].As<Napi::TypedArray>().TypedArrayType() != napi_float32_array)
    refuse("logits", "a Float32Array");
  const auto js = info[1].As<Napi::Float32Array>();
  std::vector<float> logits(js.Data(), js.Data() + js.ElementLength());
  return start_job<bool>(
      info.Env(), job_options(info[2]),
      [run, logits = std::move(logits)](OpContext&) {
        const std::lock_guard lock(run->turn);
        require(run->last.has_value(), "no crop waits for a vote");
        run->crops->vote(*run->last, {logits.data(), logits.size()});
        run->last.reset();
        return true;
      },
      [](Napi::Env env, bool&&) -> Napi::Value { return env.Null(); });
}

std::uint8_t byte_field(const Napi::Object& js, const char* name) {
  return whole_field<std::uint8_t>(js, name);
}

// cropLabels(crops, { values, unknown, skipped }, options?): NativeJob<Column>
Napi::Value crop_labels_job(const Napi::CallbackInfo& info) {
  const CropRunPtr run = OpaqueHandle<CropRun>::get(info[0], kCropsTag, "crops");
  const auto js = strict_object(info[1], "params");
  const auto list = array_field(js, "values");
  std::vector<std::uint8_t> values;
  for (std::uint32_t i = 0; i < list.Length(); ++i)
    values.push_back(strict_whole<std::uint8_t>(list.Get(i), "values"));
  const std::uint8_t unknown = byte_field(js, "unknown"), skipped = byte_field(js, "skipped");
  return start_job<AnyColumn>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        const std::lock_guard lock(run->turn);
        const ModelCloud& cloud = *run->cloud;
        const Span<const Vec3d> xyz = cloud.positions->as<Vec3d>();
        const auto hits = select_hits(xyz, cloud.skip->as<std::uint8_t>(), ctx);
        return AnyColumn(on_all_rows(hits, run->crops->labels({values.data(), values.size()}, unknown, ctx),
                                     xyz.size, skipped, ctx));
      },
      [](Napi::Env env, AnyColumn&& labels) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(labels));
      });
}

/// Features, voxels and places as columns.
struct VoxelTable {
  AnyColumn features, voxel_of, places;
  std::uint32_t width = 0;
};

template <class T>
AnyColumn copy_of(Span<const T> values) {
  Column<T> out(values.size);
  if (!values.empty()) std::memcpy(out.view().data, values.data, values.size * sizeof(T));
  return AnyColumn(std::move(out));
}

// voxelColumns(cloud, options?): NativeJob<VoxelColumns>
Napi::Value voxel_columns_job(const Napi::CallbackInfo& info) {
  const ModelCloudPtr cloud = OpaqueHandle<ModelCloud>::get(info[0], kCloudTag, "a voxel cloud");
  return start_job<VoxelTable>(
      info.Env(), job_options(info[1]),
      [cloud](OpContext& ctx) {
        const Span<const Vec3d> xyz = cloud->positions->as<Vec3d>();
        const auto hits = select_hits(xyz, cloud->skip->as<std::uint8_t>(), ctx);
        Crop all;  // without offsets, whose crop is unknown
        all.levels.resize(1);
        all.levels[0].place.resize(3 * cloud->voxels.size());
        for (std::size_t i = 0; i < cloud->voxels.size(); ++i)
          all.voxel.push_back(static_cast<std::uint32_t>(i));
        const std::vector<float> features =
            crop_features(cloud->voxels, cloud->features, all, view_of(cloud->kinds));
        VoxelTable table;
        for (const FeatureKind kind : cloud->kinds) table.width += feature_width(kind);
        table.features = copy_of<float>({features.data(), features.size()});
        table.places = copy_of<Vec3d>(cloud->voxels.nodes.place.view());
        Column<std::uint32_t> of_hits(hits.size());
        for (std::size_t i = 0; i < of_hits.size(); ++i) of_hits[i] = cloud->voxels.nodes.node_of[i];
        table.voxel_of = AnyColumn(on_all_rows(hits, std::move(of_hits), xyz.size, kNoNode, ctx));
        return table;
      },
      [](Napi::Env env, VoxelTable&& table) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("features", ColumnHandle::wrap(env, std::move(table.features)));
        out.Set("width", table.width);
        out.Set("voxel_of", ColumnHandle::wrap(env, std::move(table.voxel_of)));
        out.Set("places", ColumnHandle::wrap(env, std::move(table.places)));
        return out;
      });
}

// voxelNetworkBytes(points, { features, classes, neighbors }): number
Napi::Value voxel_network_bytes_of(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[1], "size");
  const VoxelNetworkSize size{.features = whole_field<std::uint32_t>(js, "features"),
                              .classes = whole_field<std::uint32_t>(js, "classes"),
                              .neighbors = whole_field<std::uint32_t>(js, "neighbors")};
  const std::uint64_t bytes = voxel_network_bytes(strict_whole(info[0], "points"), size);
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

}  // namespace

void register_wood_model(Napi::Env env, Napi::Object exports) {
  add<feature_widths>(env, exports, "voxelFeatureWidths");
  add<voxel_cloud_job>(env, exports, "voxelCloud");
  add<voxel_crops_job>(env, exports, "voxelCrops");
  add<next_crop_job>(env, exports, "nextCrop");
  add<vote_crop_job>(env, exports, "voteCrop");
  add<crop_labels_job>(env, exports, "cropLabels");
  add<voxel_columns_job>(env, exports, "voxelColumns");
  add<voxel_network_bytes_of>(env, exports, "voxelNetworkBytes");
}

}  // namespace pc::binding

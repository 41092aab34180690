#include "ops/lad/capture_recapture.h"

#include <memory>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/families.h"
#include "binding/lost_hits_values.h"
#include "binding/voxel_values.h"
#include "ops/lad/lost_hits.h"

namespace pc::binding {

namespace {

/// Views with the columns that they refer to.
struct HeldViews {
  std::vector<ColumnPtr> columns;
  std::vector<ViewedScan> scans;
};

ViewRows held_rows(const Napi::Object& js, std::vector<ColumnPtr>& held) {
  const auto hold = [&](ColumnPtr column) {
    held.push_back(column);
    return column;
  };
  ViewRows rows;
  rows.positions = hold(positions_column(js.Get("positions")))->as<Vec3d>();
  rows.shift = vec3_field(js, "shift");
  rows.is_miss = hold(ColumnHandle::get_optional(js.Get("is_miss"))).get();
  rows.deleted = view_or_empty<std::uint8_t>(hold(optional_mask(js.Get("deleted"), "deleted")));
  rows.is_leaf =
      view_or_empty<std::uint8_t>(hold(optional_typed_column(js.Get("is_leaf"), DType::kU8, "is_leaf")));
  return rows;
}

void add_scan(const Napi::Value& value, HeldViews& held) {
  const auto js = strict_object(value, "scan");
  ViewedScan scan{vec3_field(js, "origin"), {}};
  const auto parts = strict_array(js.Get("rows"), "rows");
  for (std::uint32_t k = 0; k < parts.Length(); ++k)
    scan.rows.push_back(held_rows(strict_object(parts.Get(k), "rows"), held.columns));
  held.scans.push_back(std::move(scan));
}

std::shared_ptr<const HeldViews> held_views(const Napi::Value& value) {
  const auto list = strict_array(value, "scans");
  auto held = std::make_shared<HeldViews>();
  for (std::uint32_t i = 0; i < list.Length(); ++i) {
    add_scan(list.Get(i), *held);
  }
  return held;
}

// captureRecapture(scans: { origin, rows: { positions: vec3d, shift, is_miss, deleted, is_leaf }[] }[], grid,
// params: { g: f64, range_noise_m, leaf_width_m }): NativeJob<CaptureRecapture>
Napi::Value capture_recapture_job(const Napi::CallbackInfo& info) {
  const auto held = held_views(info[0]);
  const HeldVoxelBox grid = held_voxel_box(info[1]);
  const auto js = strict_object(info[2], "params");
  const auto g = typed_column(js.Get("g"), DType::kF64, "g");
  const double range_noise_m = number_field(js, "range_noise_m"),
               leaf_width_m = number_field(js, "leaf_width_m");
  return start_job<CaptureRecaptureResult>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return capture_recapture(held->scans, grid.view(), {g->as<double>(), range_noise_m, leaf_width_m},
                                 ctx);
      },
      [](Napi::Env env, CaptureRecaptureResult&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("seen_by_m2", to_js(env, found.seen_by_m2));
        out.Set("seen_m2", found.seen_m2);
        out.Set("leaf_area_m2", number_or_null(env, found.leaf_area_m2));
        out.Set("lower_m2", number_or_null(env, found.lower_m2));
        out.Set("upper_m2", number_or_null(env, found.upper_m2));
        out.Set("hit_count", static_cast<double>(found.hit_count));
        out.Set("spacing_m", found.spacing_m);
        out.Set("agreement", number_or_null(env, found.agreement));
        return out;
      });
}

// captureRecaptureBytes(rows: number[]): number - rows of each scan
Napi::Value capture_recapture_bytes_of(const Napi::CallbackInfo& info) {
  std::vector<std::uint64_t> rows;
  for (const double count : number_list(info[0], "rows")) rows.push_back(static_cast<std::uint64_t>(count));
  return Napi::Number::New(info.Env(), static_cast<double>(capture_recapture_bytes(rows)));
}

// lostHits(scan: as of captureRecapture): NativeJob<{ looked_at, between, lost }>
Napi::Value lost_hits_job(const Napi::CallbackInfo& info) {
  const auto held = std::make_shared<HeldViews>();
  add_scan(info[0], *held);
  return start_job<LostHits>(
      info.Env(), job_options(info[1]),
      [held](OpContext& ctx) { return lost_hits(held->scans.front(), ctx); }, lost_hits_to_js);
}

// lostHitsBytes(rows: number): number
Napi::Value lost_hits_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(lost_hits_bytes(static_cast<std::uint64_t>(
                                           info[0].As<Napi::Number>().DoubleValue()))));
}

}  // namespace

void register_capture_recapture(Napi::Env env, Napi::Object exports) {
  add<capture_recapture_job>(env, exports, "captureRecapture");
  add<capture_recapture_bytes_of>(env, exports, "captureRecaptureBytes");
  add<lost_hits_job>(env, exports, "lostHits");
  add<lost_hits_bytes_of>(env, exports, "lostHitsBytes");
}

}  // namespace pc::binding

#include "ops/registration/icp.h"

#include <memory>
#include <mutex>
#include <utility>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/registration/mesh_samples.h"

namespace pc::binding {

namespace {

constexpr napi_type_tag kRegistrationTag{0x4b0e6d92c83f5a17ULL, 0x9c52f7e01ab46d3eULL};

/// A registration between its batches; one job at a time uses it.
struct HeldRegistration {
  explicit HeldRegistration(IcpRegistration&& held) : registration(std::move(held)) {}
  std::mutex mutex;
  IcpRegistration registration;
};
using RegistrationPtr = std::shared_ptr<HeldRegistration>;

Napi::Object registration_handle(Napi::Env env, RegistrationPtr held) {
  auto object = Napi::Object::New(env);
  auto owner = std::make_unique<RegistrationPtr>(std::move(held));
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<RegistrationPtr*>(data); };
  if (napi_wrap(env, object, owner.get(), finalize, nullptr, nullptr) != napi_ok)
    throw Error(ErrorCode::kInternal, "a registration could not be handed over");
  owner.release();
  if (napi_type_tag_object(env, object, &kRegistrationTag) != napi_ok)
    throw Error(ErrorCode::kInternal, "a registration could not be marked");
  return object;
}

RegistrationPtr& owner_of(const Napi::Value& value) {
  bool ours = false;
  if (value.IsObject()) napi_check_object_type_tag(value.Env(), value, &kRegistrationTag, &ours);
  void* data = nullptr;
  if (!ours || napi_unwrap(value.Env(), value, &data) != napi_ok) refuse("registration", "of icpPrepare");
  return *static_cast<RegistrationPtr*>(data);
}

RegistrationPtr registration_of(const Napi::Value& value) {
  RegistrationPtr held = owner_of(value);
  if (!held) throw Error(ErrorCode::kInvalidArgument, "the registration was already released");
  return held;
}

/// Keeps the columns of a side alive while the job runs.
struct HeldSide {
  ColumnPtr positions, skip;
  Vec3d shift;
  std::uint64_t stride;

  IcpSide view() const { return {positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), shift, stride}; }
};

HeldSide side_of(const Napi::Value& value, const char* name) {
  const auto js = strict_object(value, name);
  return {typed_column(js.Get("positions"), DType::kVec3d, "positions"),
          optional_typed_column(js.Get("skip"), DType::kU8, "skip"), vec3_field(js, "shift"),
          whole_field<std::uint64_t>(js, "stride")};
}

RigidTransform motion_of(const Napi::Value& value) {
  const auto m = number_array<16>(value, "start");
  RigidTransform motion;
  for (std::size_t i = 0; i < 3; ++i) motion.rows[i] = {m[4 * i], m[4 * i + 1], m[4 * i + 2]};
  motion.translation = {m[3], m[7], m[11]};
  return motion;
}

IcpInitial initial_of(const Napi::Value& value) {
  return strict_choice<IcpInitial>(value, "initial",
                                   {{"centroid", IcpInitial::kCentroid}, {"auto", IcpInitial::kAuto}});
}

IcpParams icp_params(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  const auto start = js.Get("start"), limit = js.Get("max_correspondence_distance");
  IcpParams params{strict_choice<IcpMethod>(js.Get("method"), "method",
                                            {{"point_to_point", IcpMethod::kPointToPoint},
                                             {"point_to_plane", IcpMethod::kPointToPlane},
                                             {"gicp", IcpMethod::kGicp}}),
                   initial_of(js.Get("initial")),
                   std::nullopt,
                   std::nullopt,
                   number_field(js, "rmse_threshold"),
                   whole_field<std::uint32_t>(js, "max_iterations")};
  if (!is_nothing(start)) params.start = motion_of(start);
  if (!is_nothing(limit))
    params.max_correspondence_distance_m = strict_number(limit, "max_correspondence_distance");
  return params;
}

Napi::Array matrix_to_js(Napi::Env env, const RigidTransform& motion) {
  auto out = Napi::Array::New(env, 16);
  const double t[3] = {motion.translation.x, motion.translation.y, motion.translation.z};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Vec3d& row = motion.rows[i];
    out.Set(4 * i, row.x);
    out.Set(4 * i + 1, row.y);
    out.Set(4 * i + 2, row.z);
    out.Set(4 * i + 3, t[i]);
  }
  for (std::uint32_t i = 12; i < 16; ++i) out.Set(i, i == 15 ? 1.0 : 0.0);
  return out;
}

const char* name_of(IcpStart start) {
  switch (start) {
    case IcpStart::kCentroid:
      return "centroid";
    case IcpStart::kAsPlaced:
      return "as_placed";
    case IcpStart::kGlobal:
      return "global";
    case IcpStart::kGiven:
      break;
  }
  return "init_transform";
}

Napi::Array history_to_js(Napi::Env env, const std::vector<IcpIteration>& history) {
  auto out = Napi::Array::New(env, history.size());
  std::uint32_t at = 0;
  for (const IcpIteration& iteration : history) {
    auto js = Napi::Object::New(env);
    js.Set("voxel_m", iteration.voxel_m);
    js.Set("limit_m", iteration.limit_m);
    js.Set("rmse", iteration.rmse_m);
    js.Set("pair_count", static_cast<double>(iteration.pair_count));
    out.Set(at++, js);
  }
  return out;
}

const char* name_of(GlobalOutcome outcome) {
  switch (outcome) {
    case GlobalOutcome::kFound:
      return "found";
    case GlobalOutcome::kAmbiguous:
      return "ambiguous";
    case GlobalOutcome::kNone:
      break;
  }
  return "none";
}

Napi::Value global_to_js(Napi::Env env, const std::optional<GlobalAlignment>& global) {
  if (!global) return env.Null();
  auto out = Napi::Object::New(env);
  out.Set("outcome", name_of(global->outcome));
  out.Set("voxel_m", global->voxel_m);
  out.Set("agreement", global->agreement);
  out.Set("rival_agreement", global->rival_agreement);
  out.Set("rival_turn_rad", global->rival_turn_rad);
  out.Set("rival_shift_m", global->rival_shift_m);
  out.Set("match_count", static_cast<double>(global->match_count));
  out.Set("consensus_count", static_cast<double>(global->consensus_count));
  return out;
}

Napi::Object result_to_js(Napi::Env env, const IcpResult& r) {
  auto out = Napi::Object::New(env);
  const auto count = [&](const char* name, std::uint64_t value) {
    out.Set(name, static_cast<double>(value));
  };
  out.Set("matrix", matrix_to_js(env, r.pose));
  out.Set("start", name_of(r.start));
  out.Set("global_alignment", global_to_js(env, r.global));
  out.Set("robust_diagonal", r.robust_diagonal_m);
  out.Set("moving_diagonal", r.moving_diagonal_m);
  out.Set("max_correspondence_distance", r.max_correspondence_distance_m);
  out.Set("fitness", r.fitness);
  out.Set("rmse", r.rmse_m);
  out.Set("final_limit_m", r.final_limit_m);
  out.Set("final_fitness", r.final_fitness);
  out.Set("final_rmse", r.final_rmse_m);
  out.Set("spacing_m", r.spacing_m);
  out.Set("converged", r.converged);
  out.Set("kept_start", r.kept_start);
  out.Set("conditioning", r.conditioning.ratio);
  out.Set("free_turn", to_js(env, r.conditioning.turn));
  out.Set("free_shift", to_js(env, r.conditioning.shift));
  out.Set("surface_covered", r.surface.covered);
  out.Set("surface_agreement", r.surface.agreement);
  count("surface_places", r.surface.place_count);
  count("surface_flats", r.surface.flat_count);
  out.Set("history", history_to_js(env, r.history));
  count("fixed_count", r.fixed_count);
  count("moving_count", r.moving_count);
  count("fixed_unusable", r.fixed_unusable);
  count("moving_unusable", r.moving_unusable);
  count("fixed_finest_count", r.fixed_finest_count);
  count("moving_finest_count", r.moving_finest_count);
  out.Set("warnings", to_js(env, r.warnings));
  return out;
}

// icpPrepare(fixed: IcpSide, moving: IcpSide, params: IcpParams): NativeJob<IcpRegistration>
Napi::Value icp_prepare_job(const Napi::CallbackInfo& info) {
  const HeldSide fixed = side_of(info[0], "fixed"), moving = side_of(info[1], "moving");
  const IcpParams params = icp_params(info[2]);
  return start_job<RegistrationPtr>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        return std::make_shared<HeldRegistration>(IcpRegistration(fixed.view(), moving.view(), params, ctx));
      },
      [](Napi::Env env, RegistrationPtr&& held) -> Napi::Value {
        return registration_handle(env, std::move(held));
      });
}

// icpAdvance(registration, iterations): NativeJob<{ iterations, rmse, finished }>
Napi::Value icp_advance_job(const Napi::CallbackInfo& info) {
  const auto held = registration_of(info[0]);
  const auto iterations = strict_whole<std::uint32_t>(info[1], "iterations");
  return start_job<IcpProgress>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        const std::lock_guard<std::mutex> lock(held->mutex);
        return held->registration.advance(iterations, ctx);
      },
      [](Napi::Env env, IcpProgress&& progress) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("iterations", static_cast<double>(progress.iterations));
        out.Set("rmse", progress.rmse_m);
        out.Set("finished", progress.finished);
        return out;
      });
}

// icpResult(registration): NativeJob<IcpResult>
Napi::Value icp_result_job(const Napi::CallbackInfo& info) {
  const auto held = registration_of(info[0]);
  return start_job<IcpResult>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) {
        const std::lock_guard<std::mutex> lock(held->mutex);
        return held->registration.result(ctx);
      },
      [](Napi::Env env, IcpResult&& result) -> Napi::Value { return result_to_js(env, result); });
}

const char* name_of(IcpVerdict verdict) {
  switch (verdict) {
    case IcpVerdict::kConfirmed:
      return "confirmed";
    case IcpVerdict::kContradicted:
      return "contradicted";
    case IcpVerdict::kUndecided:
      break;
  }
  return "undecided";
}

// icpCheck(registration): NativeJob<IcpCheck>
Napi::Value icp_check_job(const Napi::CallbackInfo& info) {
  const auto held = registration_of(info[0]);
  return start_job<IcpCheck>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) {
        const std::lock_guard<std::mutex> lock(held->mutex);
        return held->registration.check(ctx);
      },
      [](Napi::Env env, IcpCheck&& check) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("verdict", name_of(check.verdict));
        out.Set("found", global_to_js(env, check.found));
        out.Set("turn_rad", check.turn_rad);
        out.Set("shift_m", check.shift_m);
        out.Set("is_as_placed", check.is_as_placed);
        return out;
      });
}

// icpTakeFound(registration): NativeJob<void>; the pose that icpCheck found is the next one to go on from
Napi::Value icp_take_found_job(const Napi::CallbackInfo& info) {
  const auto held = registration_of(info[0]);
  return start_job<bool>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) {
        const std::lock_guard<std::mutex> lock(held->mutex);
        held->registration.take_found(ctx);
        return true;
      },
      [](Napi::Env env, bool&&) -> Napi::Value { return env.Undefined(); });
}

// icpRelease(registration): void; frees its memory once no job uses it
Napi::Value icp_release(const Napi::CallbackInfo& info) {
  owner_of(info[0]).reset();
  return info.Env().Undefined();
}

// icpBytes(fixed_points, moving_points, initial): number
Napi::Value icp_bytes_of(const Napi::CallbackInfo& info) {
  const std::uint64_t bytes =
      icp_bytes(strict_whole<std::uint64_t>(info[0], "fixed_points"),
                strict_whole<std::uint64_t>(info[1], "moving_points"), initial_of(info[2]));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

// meshSamples(mesh: { vertices, indices }, count, seed): NativeJob<vec3d>
Napi::Value mesh_samples_job(const Napi::CallbackInfo& info) {
  const auto mesh = strict_object(info[0], "mesh");
  const auto vertices = typed_column(mesh.Get("vertices"), DType::kVec3d, "vertices");
  const auto indices = typed_column(mesh.Get("indices"), DType::kU32, "indices");
  const auto count = strict_whole<std::uint64_t>(info[1], "count");
  const auto seed = strict_whole<std::uint64_t>(info[2], "seed");
  return start_job<Column<Vec3d>>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) {
        const TriangleMesh triangles{vertices->as<Vec3d>(), indices->as<std::uint32_t>()};
        return mesh_samples(triangles, count, seed, ctx);
      },
      [](Napi::Env env, Column<Vec3d>&& samples) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(samples));
      });
}

}  // namespace

void register_icp(Napi::Env env, Napi::Object exports) {
  add<icp_prepare_job>(env, exports, "icpPrepare");
  add<icp_advance_job>(env, exports, "icpAdvance");
  add<icp_result_job>(env, exports, "icpResult");
  add<icp_check_job>(env, exports, "icpCheck");
  add<icp_take_found_job>(env, exports, "icpTakeFound");
  add<icp_release>(env, exports, "icpRelease");
  add<icp_bytes_of>(env, exports, "icpBytes");
  add<mesh_samples_job>(env, exports, "meshSamples");
}

}  // namespace pc::binding

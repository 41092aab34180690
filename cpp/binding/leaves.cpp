#include "binding/leaves.h"

#include <memory>
#include <optional>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/opaque_handle.h"
#include "binding/qsm_values.h"
#include "binding/voxel_values.h"
#include "ops/qsm/leaf_angle_assignment.h"
#include "ops/qsm/leaf_angle_targets.h"
#include "ops/qsm/leaf_mesh.h"
#include "ops/qsm/leaf_placement.h"
#include "ops/qsm/linear_assignment.h"
#include "ops/qsm/phyllotaxis.h"
#include "ops/qsm/qsm_checks.h"
#include "ops/qsm/shoot_children.h"

namespace pc::binding {

namespace {

/// Type tag of handles made by placeLeaves and turnLeaves.
constexpr napi_type_tag kLeavesTag = {0x6d1c4be0934f4a15, 0x8f27d2a96b0c7e43};
using LeavesHandle = OpaqueHandle<std::vector<Leaf>>;

Qsm checked_qsm(const HeldQsm& held, OpContext& ctx) {
  Qsm qsm = qsm_of(held);
  list_missing_children(qsm);
  check_qsm(qsm, ctx);
  return qsm;
}

// phyllotaxis(qsm: QsmTables): NativeJob<Phyllotaxis>
Napi::Value phyllotaxis_job(const Napi::CallbackInfo& info) {
  const HeldQsm held = held_qsm(info[0]);
  return start_job<PhyllotaxisResult>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) { return phyllotaxis(checked_qsm(held, ctx), ctx); },
      [](Napi::Env env, PhyllotaxisResult&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("angle_deg", found.angle_deg);
        out.Set("confidence", found.confidence);
        out.Set("parent_count", static_cast<double>(found.parent_count));
        auto candidates = Napi::Array::New(env, kDivergenceAngles.size());
        for (std::uint32_t i = 0; i < kDivergenceAngles.size(); ++i) {
          auto one = Napi::Object::New(env);
          one.Set("angle_deg", kDivergenceAngles[i]);
          one.Set("score", found.score[i]);
          one.Set("log_support", found.log_support[i]);
          candidates.Set(i, one);
        }
        out.Set("candidates", candidates);
        return out;
      });
}

LeafPlacementParams placement_params(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  return {.leaf_spacing_m = number_field(js, "leaf_spacing_m"),
          .leaf_pitch_rad = number_field(js, "leaf_pitch_rad"),
          .leaf_size_m = number_field(js, "leaf_size_m"),
          .phyllotaxis_deg = number_field(js, "phyllotaxis_deg"),
          .leaves_per_node = whole_field<std::uint32_t>(js, "leaves_per_node"),
          .max_leaves = whole_field(js, "max_leaves")};
}

// placeLeaves(qsm: QsmTables, params): NativeJob<{ leaves, leaf_count, wanted_count, shoot_count, leafy_length_m }>
Napi::Value place_leaves_job(const Napi::CallbackInfo& info) {
  const HeldQsm held = held_qsm(info[0]);
  const LeafPlacementParams params = placement_params(info[1]);
  return start_job<LeafPlacementResult>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) { return leaf_placement(checked_qsm(held, ctx), params, ctx); },
      [](Napi::Env env, LeafPlacementResult&& placed) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("leaf_count", static_cast<double>(placed.leaves.size()));
        out.Set("wanted_count", placed.wanted_count);
        out.Set("shoot_count", static_cast<double>(placed.shoot_count));
        out.Set("leafy_length_m", placed.leafy_length_m);
        out.Set("leaves",
                LeavesHandle::wrap(env, std::make_shared<const std::vector<Leaf>>(std::move(placed.leaves)),
                                   kLeavesTag));
        return out;
      });
}

// placeLeavesBytes(cylinders, leaves): number
Napi::Value place_leaves_bytes_of(const Napi::CallbackInfo& info) {
  const auto bytes =
      leaf_placement_bytes(strict_whole(info[0], "cylinders"), strict_whole(info[1], "leaves"));
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

/// The mesh of a leaf, kept alive for a job; without vertices a rectangle.
struct HeldShape {
  ColumnPtr vertices, normals, uvs, material;
  double aspect = 1;
  LeafTemplate shape() const {
    if (!vertices) return quad_leaf(aspect);
    return mesh_leaf(vertices->as<float>(), normals->as<float>(), view_or_empty<float>(uvs),
                     view_or_empty<std::uint32_t>(material));
  }
};

// { aspect } or { vertices: f32, normals: f32, uvs: f32 | null, material: u32 | null }
HeldShape held_shape(const Napi::Value& value) {
  const auto js = strict_object(value, "shape");
  HeldShape held;
  if (js.Has("aspect")) {
    held.aspect = number_field(js, "aspect");
    return held;
  }
  held.vertices = typed_column(js.Get("vertices"), DType::kF32, "vertices");
  held.normals = typed_column(js.Get("normals"), DType::kF32, "normals");
  held.uvs = optional_typed_column(js.Get("uvs"), DType::kF32, "uvs");
  held.material = optional_typed_column(js.Get("material"), DType::kU32, "material");
  return held;
}

template <class T>
Napi::Value column_or_null(Napi::Env env, Column<T>&& column) {
  return column.size() == 0 ? env.Null() : Napi::Value(ColumnHandle::wrap(env, std::move(column)));
}

// leafMesh(leaves, length_m, shape): NativeJob<{ vertices: f64, normals: f32, uvs: f32 | null, materials: u32 | null }>
Napi::Value leaf_mesh_job(const Napi::CallbackInfo& info) {
  const auto leaves = LeavesHandle::get(info[0], kLeavesTag, "leaves");
  const double length_m = strict_number(info[1], "length_m");
  const HeldShape held = held_shape(info[2]);
  return start_job<LeafMesh>(
      info.Env(), job_options(info[3]),
      [=](OpContext& ctx) { return leaf_mesh(*leaves, length_m, held.shape(), ctx); },
      [](Napi::Env env, LeafMesh&& mesh) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("vertices", ColumnHandle::wrap(env, std::move(mesh.vertices)));
        out.Set("normals", ColumnHandle::wrap(env, std::move(mesh.normals)));
        out.Set("uvs", column_or_null(env, std::move(mesh.uvs)));
        out.Set("materials", column_or_null(env, std::move(mesh.materials)));
        return out;
      });
}

// leafMeshBytes(triangles): number
Napi::Value leaf_mesh_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(),
                           static_cast<double>(leaf_mesh_bytes(strict_whole(info[0], "triangles"))));
}

// fitLeafAngles({ vertices: f64, indices: f64, cells: f64 }, cell_count): NativeJob<{ targets: f64, unfit_count }> - six
// numbers per target: cell, mu, nu, ecc, phi0_deg, n_measured
Napi::Value fit_leaf_angles_job(const Napi::CallbackInfo& info) {
  const auto js = strict_object(info[0], "triangles");
  const auto vertices = typed_column(js.Get("vertices"), DType::kF64, "vertices");
  const auto indices = typed_column(js.Get("indices"), DType::kF64, "indices");
  const auto cells = typed_column(js.Get("cells"), DType::kF64, "cells");
  const auto cell_count = strict_whole(info[1], "cell_count");
  return start_job<LeafAngleTargets>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        return leaf_angle_targets({vertices->as<double>(), indices->as<double>(), cells->as<double>()},
                                  cell_count, ctx);
      },
      [](Napi::Env env, LeafAngleTargets&& found) -> Napi::Value {
        Column<double> table(6 * found.targets.size());
        std::size_t at = 0;
        for (const LeafAngleTarget& one : found.targets)
          for (const double value : {static_cast<double>(one.cell), one.beta_mu, one.beta_nu, one.ecc,
                                     one.phi0_deg, static_cast<double>(one.n_measured)})
            table[at++] = value;
        auto out = Napi::Object::New(env);
        out.Set("targets", ColumnHandle::wrap(env, std::move(table)));
        out.Set("unfit_count", static_cast<double>(found.unfit_count));
        return out;
      });
}

std::vector<LeafAngleTarget> targets_of(Span<const double> table) {
  if (table.size % 6 != 0) refuse("targets", "a table of 6 columns");
  std::vector<LeafAngleTarget> out;
  out.reserve(table.size / 6);
  for (std::size_t i = 0; i < table.size; i += 6) {
    if (!(table[i] >= 0 && table[i] < 4294967295.0)) refuse("cell_id", "a whole number from 0 to 4294967294");
    out.push_back(
        {static_cast<std::uint32_t>(table[i]), table[i + 1], table[i + 2], table[i + 3], table[i + 4], 0});
  }
  return out;
}

struct TurnedLeaves {
  std::shared_ptr<const std::vector<Leaf>> leaves;
  LeafAngleResult counts;
};

// turnLeaves(leaves, targets: f64, grid, { seed, max_cell_leaves }): NativeJob<{ leaves, adjusted_count, cell_count,
// untouched_count, capped_count }>
Napi::Value turn_leaves_job(const Napi::CallbackInfo& info) {
  const auto leaves = LeavesHandle::get(info[0], kLeavesTag, "leaves");
  const auto targets = typed_column(info[1], DType::kF64, "targets");
  const HeldVoxelBox grid = held_voxel_box(info[2]);
  const auto js = strict_object(info[3], "params");
  const LeafAngleParams params{whole_field(js, "seed"), whole_field(js, "max_cell_leaves")};
  return start_job<TurnedLeaves>(
      info.Env(), job_options(info[4]),
      [=](OpContext& ctx) {
        auto turned = std::make_shared<std::vector<Leaf>>(*leaves);
        const auto counts =
            leaf_angle_assignment(*turned, targets_of(targets->as<double>()), grid.view(), params, ctx);
        return TurnedLeaves{std::move(turned), counts};
      },
      [](Napi::Env env, TurnedLeaves&& turned) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("leaves", LeavesHandle::wrap(env, std::move(turned.leaves), kLeavesTag));
        out.Set("adjusted_count", static_cast<double>(turned.counts.adjusted_count));
        out.Set("cell_count", static_cast<double>(turned.counts.cell_count));
        out.Set("untouched_count", static_cast<double>(turned.counts.untouched_count));
        out.Set("capped_count", static_cast<double>(turned.counts.capped_count));
        return out;
      });
}

// turnLeavesBytes(leaves, targets): number
Napi::Value turn_leaves_bytes_of(const Napi::CallbackInfo& info) {
  const auto leaves = strict_whole(info[0], "leaves");
  const auto bytes = leaf_angle_bytes(leaves, strict_whole(info[1], "targets")) + leaves * sizeof(Leaf);
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

// assignRows(costs: f64, n): NativeJob<u32> - the column of each row of an (n, n) matrix, for the smallest sum
Napi::Value assign_rows_job(const Napi::CallbackInfo& info) {
  const auto costs = typed_column(info[0], DType::kF64, "costs");
  const auto n = static_cast<std::size_t>(strict_whole(info[1], "n"));
  if (n > 0xffff || costs->size() != n * n) refuse("costs", "a matrix of n rows and n columns");
  return start_job<Column<std::uint32_t>>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        const auto matrix = costs->as<double>();
        const auto row = [&](std::size_t i, double* out) { std::copy_n(matrix.begin() + i * n, n, out); };
        const std::vector<std::uint32_t> found = linear_assignment(n, row, ctx);
        Column<std::uint32_t> out(n);
        std::copy(found.begin(), found.end(), out.view().begin());
        return out;
      },
      [](Napi::Env env, Column<std::uint32_t>&& out) -> Napi::Value {
        return ColumnHandle::wrap(env, std::move(out));
      });
}

}  // namespace

void register_leaves(Napi::Env env, Napi::Object exports) {
  add<phyllotaxis_job>(env, exports, "phyllotaxis");
  add<place_leaves_job>(env, exports, "placeLeaves");
  add<place_leaves_bytes_of>(env, exports, "placeLeavesBytes");
  add<leaf_mesh_job>(env, exports, "leafMesh");
  add<leaf_mesh_bytes_of>(env, exports, "leafMeshBytes");
  add<fit_leaf_angles_job>(env, exports, "fitLeafAngles");
  add<turn_leaves_job>(env, exports, "turnLeaves");
  add<turn_leaves_bytes_of>(env, exports, "turnLeavesBytes");
  add<assign_rows_job>(env, exports, "assignRows");
}

}  // namespace pc::binding

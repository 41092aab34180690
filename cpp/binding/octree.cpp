#include <array>
#include <memory>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "io/octree_directory.h"
#include "ops/octree/octree_build.h"

namespace pc::binding {

namespace {

/// Keeps the columns alive while the job runs.
struct HeldInput {
  ColumnPtr positions;
  ColumnPtr skip;
  std::vector<ColumnPtr> columns;
  OctreeInput input;
};

std::shared_ptr<HeldInput> held_input(const Napi::Value& value) {
  const auto js = strict_object(value, "input");
  auto held = std::make_shared<HeldInput>();
  held->positions = typed_column(js.Get("positions"), DType::kVec3d, "positions");
  held->skip = optional_typed_column(js.Get("skip"), DType::kU8, "skip");
  held->input.positions = held->positions->as<Vec3d>();
  held->input.skip = view_or_empty<std::uint8_t>(held->skip);
  const auto attributes = array_field(js, "attributes");
  for (std::uint32_t i = 0; i < attributes.Length(); ++i) {
    const auto attribute = strict_object(attributes.Get(i), "attribute");
    held->columns.push_back(ColumnHandle::get(attribute.Get("column")));
    held->input.attributes.push_back(
        {string_field(attribute, "name"), string_field(attribute, "label"), held->columns.back().get()});
  }
  return held;
}

OctreeParams build_params(const Napi::Value& value) {
  const auto js = strict_object(value, "params");
  return {number_field(js, "scale"), whole_field<std::uint32_t>(js, "leaf_capacity")};
}

std::string hex(const std::array<std::uint8_t, 20>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const auto byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

// octreeContentHash(input: OctreeInput, params: OctreeBuildParams): NativeJob<string>
Napi::Value content_hash(const Napi::CallbackInfo& info) {
  const auto held = held_input(info[0]);
  const auto params = build_params(info[1]);
  return start_job<std::string>(
      info.Env(), job_options(info[2]),
      [held, params](OpContext& ctx) { return hex(octree_content_hash(held->input, params, ctx)); },
      [](Napi::Env env, std::string&& id) -> Napi::Value { return Napi::String::New(env, id); });
}

// octreeBuild(input: OctreeInput, params: OctreeBuildParams, folder: string): NativeJob<OctreeBuilt>
Napi::Value build(const Napi::CallbackInfo& info) {
  const auto held = held_input(info[0]);
  const auto params = build_params(info[1]);
  const std::string folder = strict_string(info[2], "folder");
  return start_job<OctreeResult>(
      info.Env(), job_options(info[3]),
      [held, params, folder](OpContext& ctx) {
        io::OctreeDirectory sink(folder);
        return octree_build(held->input, params, sink, ctx);
      },
      [](Napi::Env env, OctreeResult&& result) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("point_count", static_cast<double>(result.point_count));
        out.Set("node_count", static_cast<double>(result.node_count));
        out.Set("depth", result.depth);
        out.Set("scale", to_js(env, result.scale));
        return out;
      });
}

// octreeBuildCost(point_count: number, bytes_per_point: number): { scratch_bytes, output_bytes }
Napi::Value build_cost(const Napi::CallbackInfo& info) {
  const auto cost = octree_build_cost(strict_whole(info[0], "point_count"),
                                      strict_whole<std::uint32_t>(info[1], "bytes_per_point"));
  auto out = Napi::Object::New(info.Env());
  out.Set("scratch_bytes", static_cast<double>(cost.scratch_bytes));
  out.Set("output_bytes", static_cast<double>(cost.output_bytes));
  return out;
}

}  // namespace

void register_octree(Napi::Env env, Napi::Object exports) {
  add<content_hash>(env, exports, "octreeContentHash");
  add<build>(env, exports, "octreeBuild");
  add<build_cost>(env, exports, "octreeBuildCost");
}

}  // namespace pc::binding

#include "ops/trees/flat_trees.h"

#include <utility>
#include <vector>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"

namespace pc::binding {

namespace {

// flatTrees(positions, skip, trees, options?): NativeJob<{ flat: number[], wires: number[] }>, ids of trees
Napi::Value flat_trees_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions"),
             skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto trees = ColumnHandle::get(info[2]);
  return start_job<std::vector<TreeFlatness>>(
      info.Env(), job_options(info[3]),
      [positions, skip, trees](OpContext& ctx) {
        return tree_flatness(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), *trees, ctx);
      },
      [](Napi::Env env, std::vector<TreeFlatness>&& found) -> Napi::Value {
        auto flat = Napi::Array::New(env), wires = Napi::Array::New(env);
        for (const TreeFlatness& tree : found) {
          const auto id = static_cast<double>(tree.id);
          if (tree.share >= kFlatTree) flat.Set(flat.Length(), id);
          if (tree.wire) wires.Set(wires.Length(), id);
        }
        auto out = Napi::Object::New(env);
        out.Set("flat", flat);
        out.Set("wires", wires);
        return out;
      });
}

// flatTreesBytes(rows: number): number
Napi::Value flat_trees_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), tree_flatness_bytes(strict_whole(info[0], "rows")));
}

}  // namespace

void register_flat_trees(Napi::Env env, Napi::Object exports) {
  add<flat_trees_job>(env, exports, "flatTrees");
  add<flat_trees_bytes_of>(env, exports, "flatTreesBytes");
}

}  // namespace pc::binding

#include "ops/trees/cut_trees.h"

#include <utility>
#include <vector>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"

namespace pc::binding {

namespace {

// cutTrees(positions, skip, trees: column or null, options?): NativeJob<CutTree[]>
Napi::Value cut_trees_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions"),
             skip = optional_typed_column(info[1], DType::kU8, "skip");
  const auto trees = ColumnHandle::get_optional(info[2]);
  return start_job<std::vector<CutTree>>(
      info.Env(), job_options(info[3]),
      [positions, skip, trees](OpContext& ctx) {
        return cut_trees(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), trees.get(), ctx);
      },
      [](Napi::Env env, std::vector<CutTree>&& found) -> Napi::Value {
        auto out = Napi::Array::New(env, found.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          auto tree = Napi::Object::New(env);
          tree.Set("tree_id", static_cast<double>(found[i].id));
          tree.Set("width_m", found[i].width_m);
          tree.Set("top", found[i].top);
          out.Set(static_cast<std::uint32_t>(i), tree);
        }
        return out;
      });
}

// cutTreesBytes(rows: number): number
Napi::Value cut_trees_bytes_of(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), cut_trees_bytes(strict_whole(info[0], "rows")));
}

}  // namespace

void register_cut_trees(Napi::Env env, Napi::Object exports) {
  add<cut_trees_job>(env, exports, "cutTrees");
  add<cut_trees_bytes_of>(env, exports, "cutTreesBytes");
}

}  // namespace pc::binding

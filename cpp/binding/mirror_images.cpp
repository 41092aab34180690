#include "ops/ground/mirror_images.h"

#include <utility>

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "ops/cloud/select_hits.h"

namespace pc::binding {

namespace {

Napi::Object mirror_to_js(Napi::Env env, const Mirror& mirror) {
  auto out = Napi::Object::New(env);
  out.Set("z", mirror.z);
  out.Set("image_count", static_cast<double>(mirror.image_count));
  out.Set("depth_m", mirror.depth_m);
  const auto range = [&](std::size_t axis) {
    auto pair = Napi::Array::New(env, 2);
    pair.Set(0U, mirror.low[axis]);
    pair.Set(1U, mirror.high[axis]);
    return pair;
  };
  out.Set("x", range(0));
  out.Set("y", range(1));
  return out;
}

// mirrorImages(positions, skip, options?): NativeJob<MirrorImages>
Napi::Value mirror_images_job(const Napi::CallbackInfo& info) {
  const auto positions = typed_column(info[0], DType::kVec3d, "positions");
  const auto skip = optional_typed_column(info[1], DType::kU8, "skip");
  struct Answer {
    std::vector<Mirror> mirrors;
    AnyColumn is_image;
  };
  return start_job<Answer>(
      info.Env(), job_options(info[2]),
      [positions, skip](OpContext& ctx) {
        const auto hits = select_hits(positions->as<Vec3d>(), view_or_empty<std::uint8_t>(skip), ctx);
        MirrorImages found = mirror_images(hits.points(), ctx);
        Answer answer{std::move(found.mirrors), {}};
        if (!answer.mirrors.empty())
          answer.is_image = AnyColumn(
              on_all_rows(hits, std::move(found.is_image), positions->size(), std::uint8_t{0}, ctx));
        return answer;
      },
      [](Napi::Env env, Answer&& answer) -> Napi::Value {
        auto out = Napi::Object::New(env);
        auto mirrors = Napi::Array::New(env, answer.mirrors.size());
        for (std::size_t k = 0; k < answer.mirrors.size(); ++k)
          mirrors.Set(static_cast<std::uint32_t>(k), mirror_to_js(env, answer.mirrors[k]));
        out.Set("mirrors", mirrors);
        out.Set("is_image", answer.mirrors.empty()
                                ? env.Null()
                                : Napi::Value(ColumnHandle::wrap(env, std::move(answer.is_image))));
        return out;
      });
}

}  // namespace

void register_mirror_images(Napi::Env env, Napi::Object exports) {
  add<mirror_images_job>(env, exports, "mirrorImages");
}

}  // namespace pc::binding

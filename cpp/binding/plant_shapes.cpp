#include "binding/plant_shapes.h"

#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "core/column.h"
#include "ops/plant/blade_outline.h"

namespace pc::binding {

namespace {

UnitRgb color_field(const Napi::Object& js, const char* name) {
  const auto values = number_array<3>(js.Get(name), name);
  return {static_cast<float>(values[0]), static_cast<float>(values[1]), static_cast<float>(values[2])};
}

std::array<double, 2> range_field(const Napi::Object& js, const char* name) {
  return number_array<2>(js.Get(name), name);
}

template <class Visit>
void each(const Napi::Object& js, const char* name, Visit&& visit) {
  const Napi::Array items = array_field(js, name);
  for (std::uint32_t i = 0; i < items.Length(); ++i) visit(strict_object(items.Get(i), name));
}

/// The entries of an object of objects, in their order.
template <class Visit>
void each_named(const Napi::Object& js, const char* name, Visit&& visit) {
  const Napi::Object entries = object_field(js, name);
  const Napi::Array keys = entries.GetPropertyNames();
  for (std::uint32_t i = 0; i < keys.Length(); ++i) {
    const std::string key = strict_string(keys.Get(i), name);
    visit(key, strict_object(entries.Get(key), key.c_str()));
  }
}

BodyShape body_of(const Napi::Object& js) {
  BodyShape body;
  const Napi::Array profile = array_field(js, "profile");
  for (std::uint32_t i = 0; i < profile.Length(); ++i)
    body.profile.push_back(number_array<2>(profile.Get(i), "profile"));
  body.rings = whole_field<std::uint32_t>(js, "rings");
  body.sides = whole_field<std::uint32_t>(js, "sides");
  body.ribs = whole_field<std::uint32_t>(js, "ribs");
  body.rib_depth = number_field(js, "rib_depth");
  body.flatness = number_field(js, "flatness");
  body.bend_deg = number_field(js, "bend_deg");
  body.is_shell = bool_field(js, "is_shell");
  body.grows_on_opening = bool_field(js, "grows_on_opening");
  body.color = color_field(js, "color");
  body.tip_color = color_field(js, "tip_color");
  body.copies = whole_field<std::uint32_t>(js, "copies");
  body.copy_position = range_field(js, "copy_position");
  body.copy_distance = range_field(js, "copy_distance");
  body.copy_tilt_deg = range_field(js, "copy_tilt_deg");
  body.copy_scale = range_field(js, "copy_scale");
  body.divergence_deg = number_field(js, "divergence_deg");
  body.jitter_deg = number_field(js, "jitter_deg");
  return body;
}

WhorlShape whorl_of(const Napi::Object& js) {
  WhorlShape whorl;
  whorl.blade = blade_of(object_field(js, "blade"));
  whorl.count = whole_field<std::uint32_t>(js, "count");
  whorl.length = number_field(js, "length");
  whorl.position = number_field(js, "position");
  whorl.distance = number_field(js, "distance");
  whorl.opening_deg = number_field(js, "opening_deg");
  whorl.closed_deg = number_field(js, "closed_deg");
  whorl.closed_scale = number_field(js, "closed_scale");
  whorl.azimuth_deg = number_field(js, "azimuth_deg");
  whorl.spread_deg = number_field(js, "spread_deg");
  whorl.color = color_field(js, "color");
  return whorl;
}

NamedOrgan organ_of(const std::string& name, const Napi::Object& js) {
  NamedOrgan organ{name, {}};
  each(js, "whorls", [&](const Napi::Object& whorl) { organ.shape.whorls.push_back(whorl_of(whorl)); });
  each(js, "bodies", [&](const Napi::Object& body) { organ.shape.bodies.push_back(body_of(body)); });
  return organ;
}

LeafShape leaf_of(const std::string& name, const Napi::Object& js) {
  LeafShape leaf;
  leaf.name = name;
  leaf.blade = blade_of(object_field(js, "blade"));
  leaf.variants = whole_field<std::uint32_t>(js, "variants");
  leaf.color = color_field(js, "color");
  const Napi::Value texture = js.Get("texture");
  if (!is_nothing(texture)) {
    const Napi::Object of = strict_object(texture, "texture");
    leaf.texture = string_field(of, "file");
    leaf.coverage = number_field(of, "coverage");
  }
  leaf.leaflet_angle_deg = number_field(js, "leaflet_angle_deg");
  leaf.petiolule_length = number_field(js, "petiolule_length");
  leaf.petiolule_radius = number_field(js, "petiolule_radius");
  leaf.turns_up = bool_field(js, "turns_up");
  leaf.is_sheathed = bool_field(js, "is_sheathed");
  return leaf;
}

template <class T, class Put>
AnyColumn filled(std::size_t size, Put&& put) {
  Column<T> column(size);
  for (std::size_t i = 0; i < size; ++i) column[i] = put(i);
  return AnyColumn(std::move(column));
}

// plantPrototypes(shapes, detail): NativeJob<{ prototypes, textures }>
Napi::Value plant_prototypes_job(const Napi::CallbackInfo& info) {
  const PlantShapes shapes = plant_shapes_of(strict_object(info[0], "shapes"));
  const double detail = strict_number(info[1], "detail");
  return start_job<PlantPrototypes>(
      info.Env(), job_options(info[2]), [=](OpContext&) { return plant_prototypes(shapes, detail); },
      [](Napi::Env env, PlantPrototypes&& prototypes) -> Napi::Value {
        auto out = Napi::Object::New(env);
        auto list = Napi::Array::New(env, prototypes.organs.size());
        for (std::uint32_t i = 0; i < list.Length(); ++i) list.Set(i, to_js(env, prototypes.organs[i]));
        out.Set("prototypes", list);
        out.Set("textures", to_js(env, prototypes.textures));
        return out;
      });
}

// bladeOutline(blade, points): { outline: [x, y][], x_min, x_max, half_width }
Napi::Value blade_outline_of(const Napi::CallbackInfo& info) {
  const BladeShape blade = blade_of(strict_object(info[0], "blade"));
  const auto points = blade_outline(blade, strict_whole<std::uint32_t>(info[1], "points"));
  const OutlineBox box = outline_box(blade);
  auto out = Napi::Object::New(info.Env());
  auto outline = Napi::Array::New(info.Env(), points.size());
  for (std::uint32_t i = 0; i < outline.Length(); ++i) {
    auto point = Napi::Array::New(info.Env(), 2);
    point.Set(0U, points[i].x);
    point.Set(1U, points[i].y);
    outline.Set(i, point);
  }
  out.Set("outline", outline);
  out.Set("x_min", box.x_min);
  out.Set("x_max", box.x_max);
  out.Set("half_width", box.half_width);
  return out;
}

}  // namespace

BladeShape blade_of(const Napi::Object& js) {
  BladeShape blade;
  blade.form = strict_choice<BladeForm>(
      js.Get("form"), "form",
      {{"pinnate", BladeForm::kPinnate}, {"polar", BladeForm::kPolar}, {"needle", BladeForm::kNeedle}});
  blade.width_ratio = number_field(js, "width_ratio");
  blade.base_exponent = number_field(js, "base_exponent");
  blade.tip_exponent = number_field(js, "tip_exponent");
  const Napi::Array outline = array_field(js, "outline");
  for (std::uint32_t i = 0; i < outline.Length(); ++i) {
    const auto point = number_array<2>(outline.Get(i), "outline");
    blade.outline.push_back({point[0], point[1]});
  }
  blade.fold_deg = number_field(js, "fold_deg");
  blade.bend_deg = number_field(js, "bend_deg");
  blade.bend_exponent = number_field(js, "bend_exponent");
  blade.cup_deg = number_field(js, "cup_deg");
  blade.twist_deg = number_field(js, "twist_deg");
  blade.wave_amplitude = number_field(js, "wave_amplitude");
  blade.wave_count = number_field(js, "wave_count");
  blade.buckle_position = range_field(js, "buckle_position");
  blade.buckle_deg = range_field(js, "buckle_deg");
  blade.length_divisions = whole_field<std::uint32_t>(js, "length_divisions");
  blade.width_divisions = whole_field<std::uint32_t>(js, "width_divisions");
  return blade;
}

PlantShapes plant_shapes_of(const Napi::Object& js) {
  PlantShapes shapes;
  each_named(js, "leaves", [&](const std::string& name, const Napi::Object& leaf) {
    shapes.leaves.push_back(leaf_of(name, leaf));
  });
  each_named(js, "flowers", [&](const std::string& name, const Napi::Object& organ) {
    shapes.flowers.push_back(organ_of(name, organ));
  });
  each_named(js, "fruits", [&](const std::string& name, const Napi::Object& organ) {
    shapes.fruits.push_back(organ_of(name, organ));
  });
  shapes.stem_color = color_field(js, "stem_color");
  shapes.bark_color = color_field(js, "bark_color");
  shapes.bark_radius_m = number_field(js, "bark_radius_m");
  shapes.deviation_ratio = number_field(js, "deviation_ratio");
  shapes.triangle_budget = static_cast<std::uint64_t>(number_field(js, "triangle_budget"));
  shapes.petiole_color = color_field(js, "petiole_color");
  shapes.peduncle_color = color_field(js, "peduncle_color");
  return shapes;
}

Napi::Object to_js(Napi::Env env, const OrganPrototype& prototype) {
  const OrganMesh& mesh = prototype.mesh;
  const auto coordinate = [](const Vec3d& p, std::size_t k) { return k == 0 ? p.x : k == 1 ? p.y : p.z; };
  auto out = Napi::Object::New(env);
  out.Set("name", prototype.name);
  out.Set("organ", static_cast<double>(prototype.organ));
  out.Set("texture", prototype.texture == kNoTexture
                         ? env.Null()
                         : Napi::Number::New(env, prototype.texture).As<Napi::Value>());
  out.Set("area", prototype.area);
  out.Set("positions",
          ColumnHandle::wrap(env, filled<float>(3 * mesh.positions.size(), [&](std::size_t i) {
                               return static_cast<float>(coordinate(mesh.positions[i / 3], i % 3));
                             })));
  out.Set("indices",
          ColumnHandle::wrap(env, filled<std::uint32_t>(3 * mesh.triangles.size(), [&](std::size_t i) {
                               return mesh.triangles[i / 3][i % 3];
                             })));
  out.Set("colors", ColumnHandle::wrap(env, filled<float>(3 * mesh.colors.size(), [&](std::size_t i) {
                                         return mesh.colors[i / 3][i % 3];
                                       })));
  out.Set("uvs",
          mesh.uvs.empty()
              ? env.Null()
              : ColumnHandle::wrap(env, filled<float>(2 * mesh.uvs.size(),
                                                      [&](std::size_t i) { return mesh.uvs[i / 2][i % 2]; }))
                    .As<Napi::Value>());
  return out;
}

void register_plant_shapes(Napi::Env env, Napi::Object exports) {
  add<plant_prototypes_job>(env, exports, "plantPrototypes");
  add<blade_outline_of>(env, exports, "bladeOutline");
}

}  // namespace pc::binding

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/cloud_edit_values.h"
#include "binding/coded.h"
#include "binding/column_handle.h"
#include "binding/families.h"
#include "binding/job.h"
#include "binding/js_values.h"
#include "binding/plant_values.h"
#include "io/plant_document_json.h"
#include "ops/plant/instances.h"
#include "ops/plant/morph.h"
#include "ops/plant/plant_triangles.h"

namespace pc::binding {

namespace {

// placePlant(plant, species): NativeJob<NativePlacedPlants>
Napi::Value place_plant_job(const Napi::CallbackInfo& info) {
  const PlantPtr plant = plant_of(info[0]);
  const SpeciesPtr species = species_of(info[1]);
  return start_job<PlacedPtr>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) -> PlacedPtr {
        PlacedPlants placed{species, {}};
        placed.plants.push_back(
            plant_parts(*plant, species->growth, species->prototypes, GeometryParams{1}, ctx));
        return std::make_shared<const PlacedPlants>(std::move(placed));
      },
      [](Napi::Env env, PlacedPtr&& placed) -> Napi::Value { return placed_handle(env, std::move(placed)); });
}

// placedSummary(placed): PlacedSummary
Napi::Value placed_summary(const Napi::CallbackInfo& info) {
  const PlacedPtr placed = placed_of(info[0]);
  const auto& prototypes = placed->species->prototypes;
  std::uint64_t triangles = 0, organs = 0, sections = 0;
  double leaf_area = 0, wood_volume = 0;
  for (const auto& plant : placed->plants) {
    triangles += plant_triangle_count(plant, prototypes);
    organs += plant.instances.size();
    sections += plant_section_count(plant);
    leaf_area += plant.leaf_area_m2;
    wood_volume += plant.wood_volume_m3;
  }
  auto out = Napi::Object::New(info.Env());
  out.Set("plant_count", static_cast<double>(placed->plants.size()));
  out.Set("height_m", placed->plants.empty() ? 0.0 : placed->plants.front().height_m);
  out.Set("triangle_count", static_cast<double>(triangles));
  out.Set("mesh_bytes", static_cast<double>(plant_mesh_bytes(triangles, !prototypes.textures.empty())));
  out.Set("instance_count", static_cast<double>(organs + sections));
  out.Set("instance_bytes", static_cast<double>(plant_instances_bytes(sections, organs)));
  out.Set("leaf_area_m2", leaf_area);
  out.Set("wood_volume_m3", wood_volume);
  return out;
}

/// A mesh of which nobody needs to know the plants.
struct WireMesh {
  PlantMesh plant;
  bool is_textured;  ///< a triangle has a texture
  explicit WireMesh(PlantMesh&& mesh) : plant(std::move(mesh)) {
    const auto textures = plant.mesh.triangle_material.view();
    is_textured =
        std::any_of(textures.begin(), textures.end(), [](std::uint32_t t) { return t != kNoIndex; });
    plant.triangle_plant = {};
  }
};

Napi::Object mesh_to_js(Napi::Env env, WireMesh&& mesh) {
  PackedMesh& packed = mesh.plant.mesh;
  auto out = Napi::Object::New(env);
  out.Set("vertices", ColumnHandle::wrap(env, std::move(packed.vertices)));
  out.Set("normals", ColumnHandle::wrap(env, std::move(packed.normals)));
  out.Set("colors", ColumnHandle::wrap(env, std::move(packed.colors)));
  out.Set("uvs",
          packed.uvs.size() == 0 ? env.Null() : Napi::Value(ColumnHandle::wrap(env, std::move(packed.uvs))));
  out.Set("indices", ColumnHandle::wrap(env, std::move(packed.indices)));
  out.Set("triangle_material", ColumnHandle::wrap(env, std::move(packed.triangle_material)));
  out.Set("organ_codes", ColumnHandle::wrap(env, std::move(mesh.plant.organ_codes)));
  out.Set("is_textured", mesh.is_textured);
  return out;
}

// expandPlants(placed, origin): NativeJob<NativePlantMesh>
Napi::Value expand_plants_job(const Napi::CallbackInfo& info) {
  const PlacedPtr placed = placed_of(info[0]);
  const Vec3d origin = number_triple(info[1], "origin");
  return start_job<WireMesh>(
      info.Env(), job_options(info[2]),
      [=](OpContext& ctx) {
        const auto& plants = placed->plants;
        return WireMesh(
            expand_plants({plants.data(), plants.size()}, placed->species->prototypes, origin, ctx));
      },
      [](Napi::Env env, WireMesh&& mesh) -> Napi::Value { return mesh_to_js(env, std::move(mesh)); });
}

/// Triangles that are computed while they are sent.
struct OpenMesh {
  PlacedPtr placed;
  PlantTriangles triangles;
  OpenMesh(PlacedPtr plants, const Vec3d& origin)
      : placed(std::move(plants)),
        triangles({placed->plants.data(), placed->plants.size()}, placed->species->prototypes, origin) {}
};
using OpenMeshPtr = std::shared_ptr<const OpenMesh>;
constexpr napi_type_tag kOpenMeshTag{0x5b7e90c1d2a3f846ULL, 0x91f6043ba8d5c27eULL};

// openPlantMesh(placed, origin): NativeJob<NativeOpenPlantMesh>
Napi::Value open_plant_mesh_job(const Napi::CallbackInfo& info) {
  const PlacedPtr placed = placed_of(info[0]);
  const Vec3d origin = number_triple(info[1], "origin");
  return start_job<OpenMeshPtr>(
      info.Env(), job_options(info[2]),
      [=](OpContext&) -> OpenMeshPtr { return std::make_shared<const OpenMesh>(placed, origin); },
      [](Napi::Env env, OpenMeshPtr&& mesh) -> Napi::Value {
        const bool is_textured = mesh->triangles.is_textured();
        auto out = OpaqueHandle<OpenMesh>::wrap(env, std::move(mesh), kOpenMeshTag);
        out.Set("is_textured", is_textured);
        return out;
      });
}

// readPlantMesh(mesh, field, out: Uint8Array, byteOffset): number
Napi::Value read_plant_mesh(const Napi::CallbackInfo& info) {
  const OpenMeshPtr mesh = OpaqueHandle<OpenMesh>::get(info[0], kOpenMeshTag, "an open mesh of plants");
  const auto field = strict_choice<PlantField>(info[1], "field",
                                               {{"vertices", PlantField::kVertices},
                                                {"normals", PlantField::kNormals},
                                                {"colors", PlantField::kColors},
                                                {"uvs", PlantField::kUvs},
                                                {"indices", PlantField::kIndices},
                                                {"triangle_material", PlantField::kMaterials},
                                                {"organ_codes", PlantField::kOrganCodes}});
  if (!info[2].IsTypedArray()) refuse("out", "a Uint8Array");
  auto out = info[2].As<Napi::Uint8Array>();
  const auto offset = strict_whole<std::uint64_t>(info[3], "byteOffset");
  const std::size_t count = mesh->triangles.read(field, offset, out.ByteLength(), out.Data());
  return Napi::Number::New(info.Env(), static_cast<double>(count));
}

/// One instance of each prototype, untransformed.
PlantParts all_prototypes(const PlantPrototypes& prototypes) {
  PlantParts parts;
  for (std::uint32_t i = 0; i < prototypes.organs.size(); ++i)
    parts.instances.push_back(
        {i, 0, std::array<Vec3d, 4>{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}, Vec3d{0, 0, 0}}});
  return parts;
}

struct WireInstances {
  std::vector<std::string> names;  ///< of the prototypes
  std::vector<double> firsts;      ///< first triangle of each, and their number
  WireMesh prototypes;
  Column<std::uint32_t> prototype, plant;
  Column<float> matrix;
};

WireInstances wire_instances(const PlacedPlants& placed, const Vec3d& origin, OpContext& ctx) {
  PlantPrototypes prototypes = placed.species->prototypes;
  auto found = instance_plants({placed.plants.data(), placed.plants.size()}, prototypes, origin, ctx);
  for (OrganPrototype& section : found.sections) prototypes.organs.push_back(std::move(section));
  std::vector<std::string> names;
  std::vector<double> firsts{0};
  for (const OrganPrototype& organ : prototypes.organs) {
    names.push_back(organ.name);
    firsts.push_back(firsts.back() + static_cast<double>(organ.mesh.triangles.size()));
  }
  const PlantParts parts = all_prototypes(prototypes);
  return {std::move(names),
          std::move(firsts),
          WireMesh(expand_plants({&parts, 1}, prototypes, {0, 0, 0}, ctx)),
          std::move(found.instance_prototype),
          std::move(found.instance_plant),
          std::move(found.instance_matrix)};
}

// instancePlants(placed, origin): NativeJob<NativePlantInstances>
Napi::Value instance_plants_job(const Napi::CallbackInfo& info) {
  const PlacedPtr placed = placed_of(info[0]);
  const Vec3d origin = number_triple(info[1], "origin");
  return start_job<WireInstances>(
      info.Env(), job_options(info[2]), [=](OpContext& ctx) { return wire_instances(*placed, origin, ctx); },
      [](Napi::Env env, WireInstances&& found) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("prototypes", mesh_to_js(env, std::move(found.prototypes)));
        out.Set("prototype_names", to_js(env, found.names));
        out.Set("prototype_firsts", to_js(env, found.firsts));
        out.Set("instance_prototype", ColumnHandle::wrap(env, std::move(found.prototype)));
        out.Set("instance_plant", ColumnHandle::wrap(env, std::move(found.plant)));
        out.Set("instance_matrix", ColumnHandle::wrap(env, std::move(found.matrix)));
        return out;
      });
}

// plantTextures(species): string[]
Napi::Value plant_textures(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), species_of(info[0])->prototypes.textures);
}

// { shoot_type, parameter, op, value: { kind, a, b }, least, most }
MorphEdit morph_edit_of(const Napi::Object& js) {
  using Parameter = MorphParameter;
  using Kind = Distribution::Kind;
  const auto value = object_field(js, "value");
  return {string_field(js, "shoot_type"),
          strict_choice<Parameter>(js.Get("parameter"), "parameter",
                                   {{"internode_length_max", Parameter::kInternodeLengthMax},
                                    {"insertion_angle_tip", Parameter::kInsertionAngleTip},
                                    {"girth_area_factor", Parameter::kGirthAreaFactor},
                                    {"gravitropic_curvature", Parameter::kGravitropicCurvature},
                                    {"tortuosity", Parameter::kTortuosity},
                                    {"leaf_scale", Parameter::kLeafScale},
                                    {"petiole_length", Parameter::kPetioleLength},
                                    {"petiole_radius", Parameter::kPetioleRadius},
                                    {"internode_radius", Parameter::kInternodeRadius}}),
          strict_choice<MorphOperator>(
              js.Get("op"), "op",
              {{"set", MorphOperator::kSet}, {"scale", MorphOperator::kScale}, {"add", MorphOperator::kAdd}}),
          {strict_choice<Kind>(value.Get("kind"), "kind",
                               {{"constant", Kind::kConstant},
                                {"uniform", Kind::kUniform},
                                {"normal", Kind::kNormal},
                                {"weibull", Kind::kWeibull}}),
           number_field(value, "a"), number_field(value, "b")},
          number_field(js, "least"),
          number_field(js, "most")};
}

// morphPlant(plant, edits): NativeJob<{ plant, unused }>
Napi::Value morph_plant_job(const Napi::CallbackInfo& info) {
  const PlantPtr plant = plant_of(info[0]);
  const auto js = strict_array(info[1], "edits");
  std::vector<MorphEdit> edits;
  for (std::uint32_t i = 0; i < js.Length(); ++i)
    edits.push_back(morph_edit_of(strict_object(js.Get(i), "edits")));
  return start_job<MorphResult>(
      info.Env(), job_options(info[2]), [=](OpContext& ctx) { return morph(*plant, edits, ctx); },
      [](Napi::Env env, MorphResult&& result) -> Napi::Value {
        auto unused = Napi::Array::New(env, result.unused.size());
        for (std::uint32_t i = 0; i < result.unused.size(); ++i)
          unused.Set(i, static_cast<double>(result.unused[i]));
        auto out = Napi::Object::New(env);
        out.Set("plant", plant_handle(env, std::make_shared<const PlantStructure>(std::move(result.plant))));
        out.Set("unused", unused);
        return out;
      });
}

// plantTables(text: NativeColumn): NativeJob<{ plant_age, base_position, shoots }>
Napi::Value plant_tables_job(const Napi::CallbackInfo& info) {
  const auto text = typed_column(info[0], DType::kU8, "text");
  return start_job<io::PlantTables>(
      info.Env(), job_options(info[1]),
      [=](OpContext& ctx) {
        const auto bytes = text->as<std::uint8_t>();
        BulkVector<char> copy(bytes.size);
        std::copy(bytes.begin(), bytes.end(), copy.begin());
        return io::plant_tables(std::move(copy), ctx);
      },
      [](Napi::Env env, io::PlantTables&& tables) -> Napi::Value {
        auto out = Napi::Object::New(env);
        out.Set("plant_age", tables.plant_age);
        out.Set("base_position", tables.base_position);
        out.Set("shoots", ColumnHandle::wrap(env, AnyColumn(std::move(tables.shoots))));
        return out;
      });
}

}  // namespace

void register_plant_geometry(Napi::Env env, Napi::Object exports) {
  add<place_plant_job>(env, exports, "placePlant");
  add<placed_summary>(env, exports, "placedSummary");
  add<expand_plants_job>(env, exports, "expandPlants");
  add<open_plant_mesh_job>(env, exports, "openPlantMesh");
  add<read_plant_mesh>(env, exports, "readPlantMesh");
  add<instance_plants_job>(env, exports, "instancePlants");
  add<plant_textures>(env, exports, "plantTextures");
  add<morph_plant_job>(env, exports, "morphPlant");
  add<plant_tables_job>(env, exports, "plantTables");
}

}  // namespace pc::binding

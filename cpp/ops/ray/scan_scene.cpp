#include "ops/ray/scan_scene.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/prefetch.h"
#include "ops/ray/prototype_meshes.h"
#include "ops/ray/pulse_returns.h"
#include "spatial/bvh_queries.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 14;

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

/// A whole number below `limit`, or refuses it.
std::size_t index_of(double value, std::size_t limit, const std::string& what) {
  if (value >= 0 && value < static_cast<double>(limit) && value == std::floor(value))
    return static_cast<std::size_t>(value);
  refuse(what + " is " + std::to_string(value) + ", not the number of one of " + std::to_string(limit));
}

std::uint16_t channel(double value) {
  return static_cast<std::uint16_t>(std::fmin(std::fmax(value, 0), 1) * 65535 + 0.5);
}

Rgb16 mean_color(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return {channel((a.x + b.x + c.x) / 3), channel((a.y + b.y + c.y) / 3), channel((a.z + b.z + c.z) / 3)};
}

void check_length(std::size_t given, std::size_t wanted, const std::string& what, const char* per) {
  if (given != 0 && given != wanted)
    refuse(what + " has " + std::to_string(given) + " entries for " + std::to_string(wanted) + " " + per);
}

/// Fewer rays are not worth the way to the GPU and back.
constexpr std::size_t kLeastForDevice = 2048;
/// Texture coordinates beyond this are not a texture's.
constexpr double kLargestUv = 1e30;
/// Colour of triangles without one: mid grey.
constexpr Rgb16 kGrey{32768, 32768, 32768};

}  // namespace

ScanScene::ScanScene(const std::vector<SceneMesh>& meshes, std::vector<SceneTexture> textures, OpContext& ctx)
    : textures_(std::move(textures)) {
  require(textures_.size() < kNoTexture, "there are at most 65534 textures");
  ctx.begin_phase("Loading geometry", 0);
  for (const SceneTexture& texture : textures_) {
    const std::uint64_t bytes = std::uint64_t{4} * texture.width * texture.height;
    require(bytes > 0 && texture.rgba->as<std::uint8_t>().size == bytes,
            "a texture of another size than its image");
    has_holes_ |= texture.has_holes;
  }
  expect(direct_, meshes, &SceneMesh::surfaces);
  expect(shapes_, meshes, &SceneMesh::prototypes);
  bool placed = false;
  for (const SceneMesh& mesh : meshes) {
    add(direct_, mesh.surfaces, mesh.origin, mesh.name, ctx);
    if (mesh.instance_prototype.empty() && mesh.instance_matrix.empty()) continue;
    placed = true;
    add(shapes_, mesh.prototypes, {0, 0, 0}, mesh.name + ".prototype", ctx);
  }
  triangle_count_ = direct_.indices.size() / 3;
  if (placed) {
    place(meshes, ctx);
  } else {
    require(triangle_count_ > 0, "Geometry has no triangles");
    tree_.emplace(TriangleMesh{direct_.vertices, direct_.indices.view()}, ctx);
  }
  describe_trees();
}

void ScanScene::describe_trees() {
  const auto host_of = [](const Bvh& tree) {
    return scene_trace_kernel::HostTree{tree.view(), tree.triangles().size};
  };
  if (tree_) {
    host_.top = host_of(*tree_);
    return;
  }
  for (const Bvh& prototype : placed_->prototypes()) host_prototypes_.push_back(host_of(prototype));
  const InstancedBvhView view = placed_->view();
  host_ = {host_of(placed_->top()), host_prototypes_.data(), host_prototypes_.size(), view.placed,
           view.count};
}

void ScanScene::expect(Surfaces& to, const std::vector<SceneMesh>& meshes, SceneSurfaces SceneMesh::*kind) {
  std::size_t vertices = 0, triangles = 0, with_vertices = 0;
  const SceneMesh* only = nullptr;
  for (const SceneMesh& mesh : meshes) {
    const SceneSurfaces& surfaces = mesh.*kind;
    vertices += surfaces.vertices.size;
    triangles += surfaces.triangles.size / 3;
    if (surfaces.vertices.empty() && surfaces.triangles.empty()) continue;
    ++with_vertices;
    only = &mesh;
  }
  to.indices.reserve(3 * triangles);
  to.looks.reserve(triangles);
  const bool stays = kind == &SceneMesh::prototypes || (only != nullptr && only->origin == Vec3d{0, 0, 0});
  if (with_vertices == 1 && stays && (only->*kind).vertex_column) {
    to.column = (only->*kind).vertex_column;
    to.vertices = (only->*kind).vertices;
  } else {
    to.placed.reserve(vertices);
  }
}

void ScanScene::add(Surfaces& to, const SceneSurfaces& from, const Vec3d& origin, const std::string& name,
                    OpContext& ctx) {
  const std::size_t first_vertex = to.column ? 0 : to.placed.size(), first_triangle = to.indices.size() / 3;
  const std::size_t vertices = from.vertices.size, triangles = from.triangles.size / 3;
  if (from.triangles.size % 3 != 0)
    refuse(name + ".triangles has " + std::to_string(from.triangles.size) +
           " numbers, not three per triangle");
  check_length(from.colors.size, vertices, name + ".colors", "vertices");
  check_length(from.organs.size, triangles, name + ".organ_codes", "triangles");
  check_length(from.triangle_textures.size, triangles, name + ".triangle_materials", "triangles");
  require(first_vertex + vertices < bvh::kNone && first_triangle + triangles < bvh::kTriangle,
          "the meshes have more than 2147483647 triangles or 4294967294 vertices");
  if (!to.column) {
    to.placed.resize(first_vertex + vertices);
    to.vertices = to.placed.view();
  }
  to.indices.resize(3 * (first_triangle + triangles));
  to.looks.resize(first_triangle + triangles);
  parallel_for(ctx, to.column ? 0 : vertices, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) to.placed[first_vertex + v] = from.vertices[v] + origin;
  });
  parallel_for(ctx, from.triangles.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double value = from.triangles[i];
      if (!(value >= 0 && value < static_cast<double>(vertices) && value == std::floor(value)))
        (void)index_of(value, vertices, name + ".triangles: a vertex of triangle " + std::to_string(i / 3));
      to.indices[3 * first_triangle + i] =
          static_cast<std::uint32_t>(first_vertex + static_cast<std::size_t>(value));
    }
  });
  add_looks(to, from, first_triangle, name, ctx);
  add_textures(to, from, first_triangle, first_vertex, name);
}

void ScanScene::add_looks(Surfaces& to, const SceneSurfaces& from, std::size_t first_triangle,
                          const std::string& name, OpContext& ctx) {
  has_colors_ |= !from.colors.empty();
  has_organs_ |= !from.organs.empty();
  const std::size_t triangles = from.triangles.size / 3;
  parallel_for(ctx, triangles, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      Look look{kGrey, kNoTexture, 0};
      if (!from.colors.empty()) {
        Vec3d corner[3];
        for (std::size_t k = 0; k < 3; ++k) {
          corner[k] = from.colors[static_cast<std::size_t>(from.triangles[3 * t + k])];
          if (!is_finite(corner[k])) refuse(name + ".colors holds a number that is not finite");
        }
        look.color = mean_color(corner[0], corner[1], corner[2]);
      }
      if (!from.organs.empty()) {
        const double organ = from.organs[t];
        if (!(organ >= 0 && organ < kOrganCodes && organ == std::floor(organ)))
          refuse(name + ".organ_codes: the code of triangle " + std::to_string(t) + " is " +
                 std::to_string(organ) + ", not 0 to 6");
        look.organ = static_cast<std::uint8_t>(organ);
      }
      to.looks[first_triangle + t] = look;
    }
  });
}

void ScanScene::add_textures(Surfaces& to, const SceneSurfaces& from, std::size_t first_triangle,
                             std::size_t first_vertex, const std::string& name) {
  const std::size_t triangles = from.triangles.size / 3;
  if (from.materials.empty() && from.triangle_textures.empty()) return;
  if (from.uvs.size != 2 * from.vertices.size || from.uvs.empty()) {
    ++unused_textures_;
    return;
  }
  to.uvs.resize(2 * to.vertices.size);
  for (std::size_t i = 0; i < from.uvs.size; ++i) {
    if (!(std::abs(from.uvs[i]) <= kLargestUv))
      refuse(name + ".uv_coordinates holds a number that is not finite");
    to.uvs[2 * first_vertex + i] = static_cast<float>(from.uvs[i]);
  }
  has_colors_ = true;
  for (std::size_t m = 0; m < from.materials.size(); ++m) {
    const SceneMaterial& material = from.materials[m];
    const std::size_t texture =
        index_of(static_cast<double>(material.texture), textures_.size(), "a texture");
    const std::string what = name + ".materials[" + std::to_string(m) + "].triangle_indices: an entry";
    for (const double triangle : material.triangles)
      to.looks[first_triangle + index_of(triangle, triangles, what)].texture =
          static_cast<std::uint16_t>(texture);
  }
  for (std::size_t t = 0; t < from.triangle_textures.size; ++t) {
    const double material = from.triangle_textures[t];
    if (!(material >= 0 && material < static_cast<double>(from.material_textures.size()))) continue;
    const std::size_t texture = from.material_textures[static_cast<std::size_t>(material)];
    if (texture < textures_.size())
      to.looks[first_triangle + t].texture = static_cast<std::uint16_t>(texture);
  }
}

/// Trees of the prototypes, the direct surfaces first.
void ScanScene::place(const std::vector<SceneMesh>& meshes, OpContext& ctx) {
  PrototypeMeshes parts;
  BulkVector<Instance> instances;
  const AffineTransform same{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
  direct_is_placed_ = !direct_.indices.empty();
  if (direct_is_placed_) {
    first_triangle_.push_back(0);
    instances.push_back({0, same});
  }
  std::size_t first_of_mesh = 0;
  for (const SceneMesh& mesh : meshes) {
    const std::size_t count = mesh.instance_prototype.size;
    if (count == 0 && mesh.instance_matrix.empty()) continue;
    check_length(mesh.instance_matrix.size, 12 * count, mesh.name + ".instance_matrix",
                 "numbers of the instances");
    if (mesh.instance_matrix.size != 12 * count) refuse(mesh.name + ".instance_matrix is missing");
    const std::size_t triangles = mesh.prototypes.triangles.size / 3, base = first_triangle_.size();
    if (mesh.firsts.size() < 2 || mesh.firsts.front() != 0 || mesh.firsts.back() != triangles)
      refuse(mesh.name +
             ".prototype_first_triangle must begin with 0 and end with the number of triangles, " +
             std::to_string(triangles));
    if (std::adjacent_find(mesh.firsts.begin(), mesh.firsts.end(), std::greater_equal<>()) !=
        mesh.firsts.end())
      refuse(mesh.name + ".prototype_first_triangle must ascend, each prototype with a triangle");
    for (std::size_t p = 0; p + 1 < mesh.firsts.size(); ++p) {
      const std::size_t first = first_of_mesh + mesh.firsts[p];
      parts.add(shapes_.vertices,
                shapes_.indices.view().subspan(3 * first, 3 * (mesh.firsts[p + 1] - mesh.firsts[p])), ctx);
      first_triangle_.push_back(static_cast<std::uint32_t>(first));
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kGrain == 0) ctx.checkpoint();
      const double* m = mesh.instance_matrix.data + 12 * i;
      const std::size_t p = index_of(mesh.instance_prototype[i], mesh.firsts.size() - 1,
                                     mesh.name + ".instance_prototype: an entry");
      instances.push_back({static_cast<std::uint32_t>(base + p),
                           {{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}},
                            Vec3d{m[3], m[7], m[11]} + mesh.origin}});
      triangle_count_ += mesh.firsts[p + 1] - mesh.firsts[p];
    }
    first_of_mesh += triangles;
  }
  require(triangle_count_ > 0, "Geometry has no triangles");
  std::vector<TriangleMesh> prototypes = parts.meshes();
  if (direct_is_placed_) prototypes.insert(prototypes.begin(), {direct_.vertices, direct_.indices.view()});
  placed_.emplace(Span<const TriangleMesh>{prototypes.data(), prototypes.size()},
                  Span<const Instance>{instances.data(), instances.size()}, ctx);
}

void ScanScene::trace(const std::vector<Ray>& rays, std::vector<SceneHit>& hits, Scratch& scratch) const {
  const BvhQueries& queries = fastest_bvh_queries();
  const auto on_device = [&] {
    return scratch.device != nullptr && rays.size() >= kLeastForDevice &&
           scratch.device->first_hits(
               {rays.data(), rays.size(), scratch.plain.data(), scratch.placed.data()});
  };
  hits.resize(rays.size());
  if (tree_) {
    scratch.plain.resize(rays.size());
    if (!on_device()) queries.first_hits(tree_->view(), rays.data(), rays.size(), scratch.plain.data());
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const RayHit& hit = scratch.plain[i];
      hits[i] = {hit.t, hit.u, hit.v, hit.triangle, bvh::kNone};
    }
    return;
  }
  scratch.placed.resize(rays.size());
  const InstancedBvhView view = placed_->view();
  if (!on_device()) queries.first_instance_hits(view, rays.data(), rays.size(), scratch.placed.data());
  for (std::size_t i = 0; i < rays.size(); ++i) {
    const InstanceHit& hit = scratch.placed[i];
    hits[i] = {hit.t, hit.u, hit.v, bvh::kNone, bvh::kNone};
    if (hit.instance == bvh::kNone) continue;
    hits[i].triangle = first_triangle_[view.placed[hit.instance].prototype] + hit.triangle;
    if (!(direct_is_placed_ && hit.instance == 0)) hits[i].instance = hit.instance;
  }
}

void ScanScene::first_hits(const std::vector<Ray>& rays, std::vector<SceneHit>& hits, Scratch& scratch,
                           const OpContext& ctx) const {
  trace(rays, hits, scratch);
  if (!has_holes_) return;
  scratch.which.clear();
  for (std::size_t i = 0; i < rays.size(); ++i)
    if (is_hole(hits[i])) scratch.which.push_back(static_cast<std::uint32_t>(i));
  while (!scratch.which.empty()) {
    ctx.checkpoint();
    scratch.again.clear();
    for (const std::uint32_t i : scratch.which) {
      Ray ray = rays[i];
      ray.t_min = std::nextafter(hits[i].t, std::numeric_limits<double>::infinity());
      scratch.again.push_back(ray);
    }
    std::vector<SceneHit>& found = scratch.hits;
    trace(scratch.again, found, scratch);
    std::size_t left = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const std::uint32_t i = scratch.which[k];
      hits[i] = found[k];
      if (is_hole(found[k])) scratch.which[left++] = i;
    }
    scratch.which.resize(left);
  }
}

bool ScanScene::is_hole(const SceneHit& hit) const {
  if (hit.triangle == bvh::kNone) return false;
  const Surfaces& of = surfaces_of(hit);
  const std::uint16_t texture = of.looks[hit.triangle].texture;
  if (texture == kNoTexture || !textures_[texture].has_holes) return false;
  return texel(hit, of, hit.triangle)[3] < 128;
}

const std::uint8_t* ScanScene::texel(const SceneHit& hit, const Surfaces& of, std::size_t triangle) const {
  const SceneTexture& texture = textures_[of.looks[triangle].texture];
  const double weight[3] = {1 - hit.u - hit.v, hit.u, hit.v};
  double at[2] = {0, 0};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t vertex = of.indices[3 * triangle + k];
    for (std::size_t axis = 0; axis < 2; ++axis)
      at[axis] += weight[k] * static_cast<double>(of.uvs[2 * vertex + axis]);
  }
  // The texture repeats outside of 0..1; 1 itself is its last texel.
  const auto texel_of = [](double value, std::uint32_t count) {
    const double part = value == 1 ? 1 : value - std::floor(value);
    const auto index = static_cast<std::uint32_t>(part * count);
    return index < count ? index : count - 1;
  };
  const std::size_t column = texel_of(at[0], texture.width), row = texel_of(at[1], texture.height);
  return texture.rgba->as<std::uint8_t>().data + 4 * (row * texture.width + column);
}

void ScanScene::prefetch_look(const SceneHit& hit) const {
  if (hit.triangle == bvh::kNone) return;
  const Surfaces& of = surfaces_of(hit);
  prefetch(of.indices.data() + std::size_t{3} * hit.triangle);
  prefetch(of.looks.data() + hit.triangle);
}

void ScanScene::prefetch_corners(const SceneHit& hit) const {
  if (hit.triangle == bvh::kNone) return;
  const Surfaces& of = surfaces_of(hit);
  for (std::size_t k = 0; k < 3; ++k)
    prefetch(of.vertices.data + of.indices[std::size_t{3} * hit.triangle + k]);
}

SceneSide ScanScene::side_of(const SceneHit& hit) const {
  const Surfaces& of = surfaces_of(hit);
  const std::uint32_t* corner = of.indices.data() + std::size_t{3} * hit.triangle;
  Vec3d a = of.vertices[corner[1]] - of.vertices[corner[0]],
        b = of.vertices[corner[2]] - of.vertices[corner[0]];
  if (hit.instance != bvh::kNone) {
    const auto& matrix = placed_->view().placed[hit.instance].matrix;
    a = instances::Placed::times(matrix, a);
    b = instances::Placed::times(matrix, b);
  }
  const Vec3d normal = cross(a, b);
  return {hit.triangle, hit.instance, normal, dot(normal, normal)};
}

SceneLook ScanScene::look(const SceneHit& hit, const Vec3d& direction, SceneSide& side) const {
  if (side.triangle != hit.triangle || side.instance != hit.instance) side = side_of(hit);
  const Surfaces& of = surfaces_of(hit);
  const std::size_t triangle = hit.triangle;
  const double size = std::sqrt(side.square * dot(direction, direction));
  const Look& look = of.looks[triangle];
  SceneLook out{size > 0 ? std::fmin(std::abs(dot(side.normal, direction)) / size, 1) : 0, look.color,
                look.organ};
  if (look.texture != kNoTexture) {
    const std::uint8_t* rgba = texel(hit, of, triangle);
    const auto wide = [](std::uint8_t value) { return static_cast<std::uint16_t>(257 * value); };
    out.color = {wide(rgba[0]), wide(rgba[1]), wide(rgba[2])};
  }
  return out;
}

}  // namespace pc

#include "ops/plant/geometry.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "ops/plant/level_of_detail.h"
#include "ops/plant/organ_placement.h"

namespace pc {
namespace {

void add_shoot_tube(const PlacementInput& input, std::size_t shoot, ShootParts& parts) {
  const auto& phytomers = input.plant.shoots[shoot].phytomers;
  std::vector<TubePoint>& line = parts.line;
  double thickest = 0;
  const auto point = [&](std::size_t frame) {
    return input.axes.frames[frame].point - input.plant.base_position;
  };
  for (std::size_t k = 0; k < phytomers.size(); ++k) {
    const AxisNode& node = input.axes.node(shoot, k);
    const double radius = phytomers[k].internode.internode_radius;
    require(radius >= 0 && std::isfinite(radius), "internode_radius must be finite and not negative");
    thickest = std::max(thickest, radius);
    if (k == 0) line.push_back({point(node.first_frame), radius});
    for (std::size_t i = node.first_frame + 1; i < node.last_frame; ++i) line.push_back({point(i), radius});
    const double next = k + 1 < phytomers.size() ? phytomers[k + 1].internode.internode_radius : radius;
    line.push_back({point(node.last_frame), std::sqrt(0.5 * (radius * radius + next * next))});
    parts.height_m = std::max(parts.height_m, line.back().point.z);
  }
  if (line.empty()) return;
  add_tube({line.data(), line.size()}, input.axes.frames[input.axes.first_frame[shoot]].normal, parts.rings);
  parts.wood_volume_m3 = tube_volume(parts.rings);
  add_pieces(0, OrganCode::kShoot, shoot_sides(thickest, input.detail), static_cast<std::uint32_t>(shoot),
             parts);
}

ShootParts shoot_parts(const PlacementInput& input, std::size_t shoot) {
  ShootParts parts;
  add_shoot_tube(input, shoot, parts);
  const auto& phytomers = input.plant.shoots[shoot].phytomers;
  for (std::size_t k = 0; k < phytomers.size(); ++k) {
    input.ctx.checkpoint();
    for (std::size_t petiole = 0; petiole < phytomers[k].petioles.size(); ++petiole) {
      place_petiole(input, shoot, k, petiole, parts);
      place_buds(input, shoot, k, petiole, parts);
    }
  }
  return parts;
}

void reserve_parts(const std::vector<ShootParts>& shoots, PlantParts& out) {
  std::size_t tubes = 0, rings = 0, instances = 0;
  for (const ShootParts& shoot : shoots) {
    tubes += shoot.tubes.size();
    rings += shoot.rings.rings.size();
    instances += shoot.instances.size();
  }
  out.tubes.reserve(tubes), out.rings.reserve(rings), out.instances.reserve(instances);
}

/// Something that becomes triangles: a tube, or an instance.
struct Item {
  const PlantParts* plant;
  std::uint32_t plant_index;
  bool is_tube;
  std::size_t index;
  std::uint64_t first_triangle;
};

std::vector<Item> items_of(Span<const PlantParts> plants, const PlantPrototypes& prototypes,
                           std::uint64_t& triangles) {
  std::vector<Item> items;
  triangles = 0;
  for (std::size_t p = 0; p < plants.size; ++p) {
    const auto index = static_cast<std::uint32_t>(p);
    for (std::size_t i = 0; i < plants[p].tubes.size(); ++i) {
      items.push_back({&plants[p], index, true, i, triangles});
      triangles += tube_triangle_count(plants[p].tubes[i]);
    }
    for (std::size_t i = 0; i < plants[p].instances.size(); ++i) {
      items.push_back({&plants[p], index, false, i, triangles});
      triangles += prototypes.organs[plants[p].instances[i].prototype].mesh.triangles.size();
    }
  }
  return items;
}

/// Writes triangles one after another.
class Writer {
 public:
  Writer(PlantMesh& mesh, const Item& item, const Vec3d& shift)
      : mesh_(mesh), shift_(shift), plant_(item.plant_index), next_(item.first_triangle) {}

  void add(const Vec3d& a, const Vec3d& b, const Vec3d& c, const UnitRgb& color, OrganCode organ,
           std::uint32_t texture) {
    Vec3d n = cross(b - a, c - a);
    const double length = std::sqrt(dot(n, n));
    n = length > 0 ? n * (1 / length) : Vec3d{0, 0, 1};
    const float normal[3] = {static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)};
    PackedMesh& mesh = mesh_.mesh;
    int corner = 0;
    for (const Vec3d& p : {a, b, c}) {
      const std::size_t v = 3 * next_ + static_cast<std::size_t>(corner++);
      const Vec3d q = p + shift_;
      bounds.add(q);
      const float place[3] = {static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z)};
      for (int k = 0; k < 3; ++k) {
        mesh.vertices[3 * v + k] = place[k];
        mesh.normals[3 * v + k] = normal[k];
        mesh.colors[3 * v + k] = color[k];
      }
      mesh.indices[v] = static_cast<std::uint32_t>(v);
    }
    mesh.triangle_material[next_] = texture;
    mesh_.organ_codes[next_] = static_cast<std::uint8_t>(organ);
    mesh_.triangle_plant[next_] = plant_;
    ++next_;
  }
  /// Of the triangle that was added last.
  void uvs(const std::array<float, 2>& a, const std::array<float, 2>& b, const std::array<float, 2>& c) {
    std::size_t v = 6 * (next_ - 1);
    for (const auto* uv : {&a, &b, &c})
      for (const float value : *uv) mesh_.mesh.uvs[v++] = value;
  }
  Box3d bounds;

 private:
  PlantMesh& mesh_;
  Vec3d shift_;
  std::uint32_t plant_;
  std::size_t next_;
};

void write_tube(const PlantParts& plant, const PlantTube& tube, const PlantPrototypes& prototypes,
                Writer& writer) {
  const Span<const TubeRing> rings{plant.rings.data() + tube.first_ring, tube.ring_count};
  tube_triangles(rings, tube.sides, tube.has_start, tube.has_end,
                 [&](const Vec3d& a, const Vec3d& b, const Vec3d& c, std::size_t ring) {
                   const bool is_bark = has_bark(prototypes, tube.organ, rings[ring].radius);
                   writer.add(a, b, c, tube_color(prototypes, tube.organ, is_bark), tube.organ, kNoIndex);
                 });
}

void write_organ(const OrganInstance& instance, const OrganPrototype& organ, Writer& writer) {
  const auto& f = instance.frame;
  const auto place = [&](std::uint32_t i) {
    const Vec3d& p = organ.mesh.positions[i];
    return f[3] + f[0] * p.x + f[1] * p.y + f[2] * p.z;
  };
  for (std::size_t t = 0; t < organ.mesh.triangles.size(); ++t) {
    const auto& [a, b, c] = organ.mesh.triangles[t];
    writer.add(place(a), place(b), place(c), organ.mesh.colors[t], organ.organ, organ.texture);
    if (!organ.mesh.uvs.empty()) writer.uvs(organ.mesh.uvs[a], organ.mesh.uvs[b], organ.mesh.uvs[c]);
  }
}

PlantMesh empty_mesh(std::uint64_t triangles, bool has_textures, const Vec3d& origin) {
  if (triangles > 0xffffffffU / 3)
    throw Error(ErrorCode::kUnsupported, "the plants have " + std::to_string(triangles) +
                                             " triangles, more than 32-bit indices count (" +
                                             std::to_string(0xffffffffU / 3) +
                                             "); make fewer plants or instances");
  const auto n = static_cast<std::size_t>(triangles);
  PlantMesh out;
  out.origin = origin;
  out.mesh.vertices = Column<float>(9 * n);
  out.mesh.indices = Column<std::uint32_t>(3 * n);
  out.mesh.normals = Column<float>(9 * n);
  out.mesh.colors = Column<float>(9 * n);
  if (has_textures) out.mesh.uvs = Column<float>(6 * n);
  out.mesh.triangle_material = Column<std::uint32_t>(n);
  out.organ_codes = Column<std::uint8_t>(n);
  out.triangle_plant = Column<std::uint32_t>(n);
  return out;
}

}  // namespace

PlantMesh expand_plants(Span<const PlantParts> plants, const PlantPrototypes& prototypes, const Vec3d& origin,
                        OpContext& ctx) {
  require(is_finite(origin), "origin must be finite");
  std::uint64_t triangles = 0;
  const std::vector<Item> items = items_of(plants, prototypes, triangles);
  PlantMesh out = empty_mesh(triangles, !prototypes.textures.empty(), origin);
  constexpr std::size_t kGrain = 16;
  std::vector<Box3d> bounds((items.size() + kGrain - 1) / kGrain);
  ctx.begin_phase("Packing geometry", items.size());
  parallel_for(ctx, items.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Item& item = items[i];
      Writer writer(out, item, item.plant->base - origin);
      if (item.is_tube) {
        write_tube(*item.plant, item.plant->tubes[item.index], prototypes, writer);
      } else {
        const OrganInstance& instance = item.plant->instances[item.index];
        write_organ(instance, prototypes.organs[instance.prototype], writer);
      }
      bounds[begin / kGrain].add(writer.bounds);
    }
  });
  for (const Box3d& box : bounds) out.mesh.bounds.add(box);
  return out;
}

PlantParts plant_parts(const PlantStructure& plant, const PlantSpecies& species,
                       const PlantPrototypes& prototypes, const GeometryParams& params, OpContext& ctx) {
  require(params.detail >= 0.05 && params.detail <= 4, "detail must be from 0.05 to 4");
  const PlantAxes axes = walk_axes(plant, ctx);
  const PlacementInput input{plant, species, prototypes, axes, params.detail, ctx};
  std::vector<ShootParts> shoots(plant.shoots.size());
  ctx.begin_phase("Placing organs", shoots.size());
  parallel_for(ctx, shoots.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) shoots[i] = shoot_parts(input, i);
  });
  PlantParts out;
  out.base = plant.base_position;
  reserve_parts(shoots, out);
  for (ShootParts& shoot : shoots) {
    for (PlantTube& tube : shoot.tubes) {
      tube.first_ring += out.rings.size();
      out.tubes.push_back(tube);
    }
    out.rings.insert(out.rings.end(), shoot.rings.rings.begin(), shoot.rings.rings.end());
    out.instances.insert(out.instances.end(), shoot.instances.begin(), shoot.instances.end());
    out.wood_volume_m3 += shoot.wood_volume_m3;
    out.leaf_area_m2 += shoot.leaf_area_m2;
    out.height_m = std::max(out.height_m, shoot.height_m);
    shoot = {};
    ctx.checkpoint();
  }
  simplify_plant(prototypes, out, ctx);
  return out;
}

std::uint64_t tube_triangle_count(const PlantTube& tube) {
  return 2 * static_cast<std::uint64_t>(tube.sides) * (tube.ring_count - 1) +
         (static_cast<std::uint64_t>(tube.has_start) + tube.has_end) * (tube.sides - 2);
}

std::uint64_t plant_triangle_count(const PlantParts& plant, const PlantPrototypes& prototypes) {
  std::uint64_t triangles = 0;
  for (const PlantTube& tube : plant.tubes) triangles += tube_triangle_count(tube);
  for (const OrganInstance& organ : plant.instances)
    triangles += prototypes.organs[organ.prototype].mesh.triangles.size();
  return triangles;
}

std::uint64_t plant_mesh_bytes(std::uint64_t triangles, bool has_textures) {
  return triangles * (has_textures ? 153 : 129);
}

}  // namespace pc

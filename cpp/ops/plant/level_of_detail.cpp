#include "ops/plant/level_of_detail.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ops/plant/blade_mesh.h"
#include "ops/plant/organ_parts.h"
#include "spatial/triangle_distance.h"

namespace pc {
namespace {

constexpr std::size_t kMostTriangles = 256;
/// Divisions of coarser blades along and across, relative to the full ones, and of coarser flowers and fruits.
constexpr std::array<std::pair<double, double>, 4> kBladeFactors{
    {{1, 0.5}, {0.72, 0.5}, {0.5, 0.34}, {0.4, 0.34}}};
constexpr std::array<double, 3> kOrganFactors{0.7, 0.5, 0.35};
/// A level must save this share of the triangles of the one before.
constexpr double kLeastSaving = 0.15;
constexpr int kAreaRounds = 6;
constexpr double kAreaError = 1e-3;

Vec3d centroid(const OrganMesh& mesh, const std::array<std::uint32_t, 3>& t) {
  return (mesh.positions[t[0]] + mesh.positions[t[1]] + mesh.positions[t[2]]) * (1.0 / 3);
}

double squared_distance_to(const OrganMesh& mesh, const Vec3d& p) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [a, b, c] : mesh.triangles)
    least = std::min(least,
                     closest_on_triangle(mesh.positions[a], mesh.positions[b], mesh.positions[c], p).squared);
  return least;
}

/// Largest distance of corners and centroids of one mesh to the other, both ways.
double distance_between(const OrganMesh& a, const OrganMesh& b) {
  double worst = 0;
  for (const auto& [from, to] : {std::pair{&a, &b}, {&b, &a}}) {
    for (const Vec3d& p : from->positions) worst = std::max(worst, squared_distance_to(*to, p));
    for (const auto& t : from->triangles)
      worst = std::max(worst, squared_distance_to(*to, centroid(*from, t)));
  }
  return std::sqrt(worst);
}

/// How a mesh grows to a given area: across (blades), about the axis (needles) or as a whole.
enum class Growth { kWidth, kGirth, kSize };

bool match_area(OrganMesh& mesh, double area, Growth growth) {
  for (int round = 0; round < kAreaRounds; ++round) {
    const double now = surface_area(mesh);
    if (!(now > 0)) return false;
    const double k = growth == Growth::kSize ? std::sqrt(area / now) : area / now;
    for (Vec3d& p : mesh.positions) {
      p.y *= k;
      if (growth != Growth::kWidth) p.z *= k;
      if (growth == Growth::kSize) p.x *= k;
    }
  }
  return std::abs(surface_area(mesh) - area) <= kAreaError * area;
}

/// Adds a coarser mesh of the prototype `of`, if it is one.
void add_level(OrganMesh mesh, Growth growth, std::uint32_t of, PlantPrototypes& prototypes) {
  const OrganPrototype& full = prototypes.organs[of];
  const std::size_t before = full.coarser.empty()
                                 ? full.mesh.triangles.size()
                                 : prototypes.organs[full.coarser.back().prototype].mesh.triangles.size();
  if (mesh.triangles.empty() ||
      static_cast<double>(mesh.triangles.size()) > (1 - kLeastSaving) * static_cast<double>(before))
    return;
  if (!match_area(mesh, surface_area(full.mesh), growth)) return;
  OrganPrototype coarse = full;
  coarse.coarser.clear();
  coarse.name += "/coarse" + std::to_string(full.coarser.size() + 1);
  if (full.mesh.uvs.empty()) mesh.uvs.clear();
  coarse.reach = reach_of(mesh);
  const double deviation = distance_between(full.mesh, mesh);
  coarse.mesh = std::move(mesh);
  prototypes.organs[of].coarser.push_back({static_cast<std::uint32_t>(prototypes.organs.size()), deviation});
  prototypes.organs.push_back(std::move(coarse));
}

bool can_be_coarser(const PlantPrototypes& prototypes, std::uint32_t organ) {
  const OrganMesh& mesh = prototypes.organs[organ].mesh;
  return !mesh.triangles.empty() && mesh.triangles.size() <= kMostTriangles;
}

void add_leaf_levels(const LeafShape& leaf, std::uint32_t of, std::uint32_t variant, PlantPrototypes& out) {
  const auto divided = [](std::uint32_t divisions, double factor) {
    return std::max(1U, static_cast<std::uint32_t>(std::lround(divisions * factor)));
  };
  for (const auto& [along, across] : kBladeFactors) {
    BladeShape blade = leaf.blade;
    blade.length_divisions = divided(blade.length_divisions, along);
    blade.width_divisions = divided(blade.width_divisions, across);
    OrganMesh mesh = blade_mesh(blade, variant, 1);
    mesh.colors.assign(mesh.triangles.size(), leaf.color);
    add_level(std::move(mesh), blade.form == BladeForm::kNeedle ? Growth::kGirth : Growth::kWidth, of, out);
  }
}

void add_organ_levels(const NamedOrgan& organ, std::uint32_t of, bool is_closed, PlantPrototypes& out) {
  if (!can_be_coarser(out, of)) return;
  for (const double detail : kOrganFactors)
    add_level(organ_mesh(organ.shape, is_closed, detail), Growth::kSize, of, out);
}

/// The mesh of an organ of that size if the plant may deviate so much.
std::uint32_t level_of(const PlantPrototypes& prototypes, const OrganInstance& instance, double height_m,
                       double deviation_m) {
  const OrganPrototype& organ = prototypes.organs[instance.prototype];
  const double size = std::sqrt(dot(instance.frame[0], instance.frame[0]));
  std::uint32_t level = instance.prototype;
  for (const OrganLevel& coarser : organ.coarser) {
    if (coarser.deviation * size > deviation_m) continue;
    const double reach = size * std::max(organ.reach, prototypes.organs[coarser.prototype].reach);
    const double z = instance.frame[3].z;
    if (z > reach && z + reach < height_m) level = coarser.prototype;
  }
  return level;
}

std::uint32_t sides_of(const PlantTube& tube, double radius_m, double deviation_m) {
  for (std::uint32_t sides = tube.organ == OrganCode::kShoot ? 5 : 3; sides < tube.sides; ++sides)
    if (radius_m * (polygon_radius(sides) - 1) <= deviation_m) return sides;
  return tube.sides;
}

/// First tube after the piece that begins at `first`: long ones are cut.
std::size_t piece_end(const std::vector<PlantTube>& tubes, std::size_t first) {
  std::size_t end = first;
  while (end + 1 < tubes.size() && !tubes[end].has_end) ++end;
  return std::min(end + 1, tubes.size());
}

double thickest_of(const PlantParts& plant, std::size_t first, std::size_t end) {
  double radius = 0;
  for (std::size_t t = first; t < end; ++t)
    for (std::size_t i = 0; i < plant.tubes[t].ring_count; ++i)
      radius = std::max(radius, plant.rings[plant.tubes[t].first_ring + i].radius);
  return radius;
}

/// Whether a ring may touch the plant's top, however many sides it has.
bool is_highest(const TubeRing& ring, double height_m) {
  constexpr std::size_t kFewestSides = 3;  // whose corners lie farthest out
  return ring_top(ring, kFewestSides) >= height_m;
}

/// Sides of the tubes of a piece; it keeps them at the plant's top.
std::uint32_t piece_sides(const PlantParts& plant, std::size_t first, std::size_t end, double deviation_m) {
  for (std::size_t t = first; t < end; ++t)
    for (std::size_t i = 0; i < plant.tubes[t].ring_count; ++i)
      if (is_highest(plant.rings[plant.tubes[t].first_ring + i], plant.height_m))
        return plant.tubes[first].sides;
  return sides_of(plant.tubes[first], thickest_of(plant, first, end), deviation_m);
}

/// Whether the rings between two can be left out.
bool is_straight(const TubeRing* first, const TubeRing* last, double deviation_m, double height_m) {
  const Vec3d chord = last->center - first->center;
  const double squared = dot(chord, chord);
  if (!(squared > 0)) return false;
  for (const TubeRing* ring = first + 1; ring < last; ++ring) {
    const double f = dot(ring->center - first->center, chord) / squared;
    if (!(f > 0 && f < 1) || is_highest(*ring, height_m)) return false;
    const double off = std::sqrt(squared_distance(ring->center, first->center + chord * f));
    const double radius = first->radius + f * (last->radius - first->radius);
    if (off > std::min(deviation_m, 0.1 * ring->radius) ||
        std::abs(radius - ring->radius) > 0.01 * ring->radius)
      return false;
  }
  return true;
}

/// Appends the rings of a tube that are needed.
void keep_rings(Span<const TubeRing> rings, double deviation_m, double height_m,
                std::vector<TubeRing>& kept) {
  constexpr std::size_t kMostLeftOut = 16;
  kept.push_back(rings[0]);
  for (std::size_t at = 0; at + 1 < rings.size;) {
    std::size_t next = at + 1;
    while (next + 1 < rings.size && next - at <= kMostLeftOut &&
           is_straight(&rings[at], &rings[next + 1], deviation_m, height_m))
      ++next;
    kept.push_back(rings[next]);
    at = next;
  }
}

std::uint64_t triangles_with(const PlantPrototypes& prototypes, const PlantParts& plant, double deviation_m) {
  std::uint64_t triangles = 0;
  std::vector<TubeRing> kept;
  for (std::size_t first = 0; first < plant.tubes.size();) {
    const std::size_t end = piece_end(plant.tubes, first);
    const std::uint32_t sides = piece_sides(plant, first, end, deviation_m);
    for (std::size_t t = first; t < end; ++t) {
      PlantTube tube = plant.tubes[t];
      tube.sides = sides;
      kept.clear();
      keep_rings({plant.rings.data() + tube.first_ring, tube.ring_count}, deviation_m, plant.height_m, kept);
      tube.ring_count = kept.size();
      triangles += tube_triangle_count(tube);
    }
    first = end;
  }
  for (const OrganInstance& organ : plant.instances)
    triangles +=
        prototypes.organs[level_of(prototypes, organ, plant.height_m, deviation_m)].mesh.triangles.size();
  return triangles;
}

void simplify_tubes(PlantParts& plant, double deviation_m, OpContext& ctx) {
  std::vector<TubeRing> kept;
  kept.reserve(plant.rings.size());
  for (std::size_t first = 0; first < plant.tubes.size();) {
    ctx.checkpoint();
    const std::size_t end = piece_end(plant.tubes, first);
    const std::uint32_t sides = piece_sides(plant, first, end, deviation_m);
    for (; first < end; ++first) {
      PlantTube& tube = plant.tubes[first];
      tube.sides = sides;
      const std::size_t begin = kept.size();
      keep_rings({plant.rings.data() + tube.first_ring, tube.ring_count}, deviation_m, plant.height_m, kept);
      tube.first_ring = begin, tube.ring_count = kept.size() - begin;
    }
  }
  kept.shrink_to_fit();
  plant.rings = std::move(kept);
}

}  // namespace

void add_coarser_organs(const PlantShapes& shapes, PlantPrototypes& prototypes) {
  for (std::size_t i = 0; i < shapes.leaves.size(); ++i) {
    const auto [first, variants] = std::pair{prototypes.leaves[i].first, prototypes.leaves[i].variants};
    for (std::uint32_t variant = 0; variant < variants; ++variant)
      if (can_be_coarser(prototypes, first + variant))
        add_leaf_levels(shapes.leaves[i], first + variant, variant, prototypes);
  }
  for (std::size_t i = 0; i < shapes.flowers.size(); ++i) {
    add_organ_levels(shapes.flowers[i], prototypes.flowers[i].open, false, prototypes);
    add_organ_levels(shapes.flowers[i], prototypes.flowers[i].closed, true, prototypes);
  }
  for (std::size_t i = 0; i < shapes.fruits.size(); ++i)
    add_organ_levels(shapes.fruits[i], prototypes.fruits[i].open, false, prototypes);
}

void simplify_plant(const PlantPrototypes& prototypes, PlantParts& plant, OpContext& ctx) {
  constexpr int kMostDoublings = 2;
  double deviation = prototypes.deviation_ratio * plant.height_m;
  if (!(deviation > 0)) return;
  for (int i = 0; i < kMostDoublings; ++i) {
    ctx.checkpoint();
    if (triangles_with(prototypes, plant, deviation) <= prototypes.triangle_budget) break;
    deviation *= 2;
  }
  simplify_tubes(plant, deviation, ctx);
  std::size_t count = 0;
  for (OrganInstance& organ : plant.instances) {
    if (++count % 4096 == 0) ctx.checkpoint();
    organ.prototype = level_of(prototypes, organ, plant.height_m, deviation);
  }
}

}  // namespace pc

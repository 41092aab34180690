#include "ops/plant/plant_triangles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>

#include "core/error.h"

namespace pc {
namespace {

/// A texture coordinate per corner; zero without a texture.
constexpr std::size_t kUvFloats = 6;
constexpr std::size_t kCornerFloats = 9;

/// Ring that a triangle of tube_triangles begins at.
std::size_t ring_of(const PlantTube& tube, std::size_t triangle) {
  const std::size_t start = tube.has_start ? tube.sides - 2 : 0;
  if (triangle < start) return 0;
  return std::min((triangle - start) / (2 * std::size_t{tube.sides}), tube.ring_count - 1);
}

Vec3d flat_normal(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d n = cross(b - a, c - a);
  const double length = std::sqrt(dot(n, n));
  return length > 0 ? n * (1 / length) : Vec3d{0, 0, 1};
}

float* put(const Vec3d& p, float* out) {
  *out++ = static_cast<float>(p.x);
  *out++ = static_cast<float>(p.y);
  *out++ = static_cast<float>(p.z);
  return out;
}

}  // namespace

std::size_t plant_field_bytes(PlantField field) {
  switch (field) {
    case PlantField::kVertices:
    case PlantField::kNormals:
    case PlantField::kColors:
      return sizeof(float) * kCornerFloats;
    case PlantField::kUvs:
      return sizeof(float) * kUvFloats;
    case PlantField::kIndices:
      return 3 * sizeof(std::uint32_t);
    default:
      return sizeof(std::uint32_t);
  }
}

PlantTriangles::PlantTriangles(Span<const PlantParts> plants, const PlantPrototypes& prototypes,
                               const Vec3d& origin)
    : plants_(plants), prototypes_(prototypes), origin_(origin) {
  require(is_finite(origin), "origin must be finite");
  std::size_t items = 0;
  for (const PlantParts& plant : plants) items += plant.tubes.size() + plant.instances.size();
  items_.reserve(items);
  for (std::size_t p = 0; p < plants.size; ++p) add_items(static_cast<std::uint32_t>(p));
  constexpr std::uint64_t kMost = 0xffffffffU / 3;
  if (size_ > kMost)
    throw Error(ErrorCode::kUnsupported, "the plants have " + std::to_string(size_) +
                                             " triangles, more than 32-bit indices count (" +
                                             std::to_string(kMost) + "); make fewer plants or instances");
}

void PlantTriangles::add_items(std::uint32_t plant) {
  const PlantParts& parts = plants_[plant];
  for (std::uint32_t i = 0; i < parts.tubes.size(); ++i) {
    items_.push_back({size_, plant, 1, i});
    size_ += tube_triangle_count(parts.tubes[i]);
  }
  for (std::uint32_t i = 0; i < parts.instances.size(); ++i) {
    items_.push_back({size_, plant, 0, i});
    const OrganPrototype& organ = organ_of(items_.back());
    size_ += organ.mesh.triangles.size();
    if (organ.texture != kNoIndex && !organ.mesh.triangles.empty()) is_textured_ = true;
  }
}

Span<const TubeRing> PlantTriangles::rings_of(const Item& item) const {
  const PlantTube& tube = tube_of(item);
  return {plants_[item.plant].rings.data() + tube.first_ring, tube.ring_count};
}

template <class Use>
void PlantTriangles::each_part(std::uint64_t first, std::size_t count, Use&& use) const {
  const std::uint64_t end = first + count;
  auto item = std::upper_bound(items_.begin(), items_.end(), first,
                               [](std::uint64_t value, const Item& each) { return value < each.first; });
  if (item != items_.begin()) --item;
  for (; item != items_.end() && item->first < end; ++item) {
    const std::uint64_t next = item + 1 == items_.end() ? size_ : (item + 1)->first;
    const Part part{*item, static_cast<std::size_t>(std::max(first, item->first) - item->first),
                    static_cast<std::size_t>(std::min(end, next) - item->first)};
    if (part.begin < part.end) use(part);
  }
}

template <class Triangle>
void PlantTriangles::each_triangle(const Part& part, Triangle&& triangle) const {
  if (part.item.is_tube) {
    const PlantTube& tube = tube_of(part.item);
    std::size_t t = 0;
    tube_triangles(rings_of(part.item), tube.sides, tube.has_start, tube.has_end,
                   [&](const Vec3d& a, const Vec3d& b, const Vec3d& c, std::size_t) {
                     if (t >= part.begin && t < part.end) triangle(a, b, c);
                     ++t;
                   });
    return;
  }
  const auto& f = instance_of(part.item).frame;
  const OrganMesh& mesh = organ_of(part.item).mesh;
  thread_local std::vector<Vec3d> places;
  places.resize(mesh.positions.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Vec3d& p = mesh.positions[i];
    places[i] = f[3] + f[0] * p.x + f[1] * p.y + f[2] * p.z;
  }
  for (std::size_t t = part.begin; t < part.end; ++t) {
    const auto& [a, b, c] = mesh.triangles[t];
    triangle(places[a], places[b], places[c]);
  }
}

void PlantTriangles::fill_vertices(std::uint64_t first, std::size_t count, float* out, Box3d* bounds) const {
  each_part(first, count, [&](const Part& part) {
    const Vec3d shift = plants_[part.item.plant].base - origin_;
    each_triangle(part, [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
      for (const Vec3d* corner : {&a, &b, &c}) {
        const Vec3d place = *corner + shift;
        if (bounds != nullptr) bounds->add(place);
        out = put(place, out);
      }
    });
  });
}

void PlantTriangles::fill_normals(std::uint64_t first, std::size_t count, float* out) const {
  each_part(first, count, [&](const Part& part) {
    each_triangle(part, [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
      const Vec3d normal = flat_normal(a, b, c);
      for (int corner = 0; corner < 3; ++corner) out = put(normal, out);
    });
  });
}

float* PlantTriangles::fill_colors(const Part& part, float* out) const {
  const Item& item = part.item;
  for (std::size_t t = part.begin; t < part.end; ++t) {
    UnitRgb color;
    if (item.is_tube) {
      const PlantTube& tube = tube_of(item);
      color = tube_color(prototypes_, tube.organ,
                         has_bark(prototypes_, tube.organ, rings_of(item)[ring_of(tube, t)].radius));
    } else {
      color = organ_of(item).mesh.colors[t];
    }
    for (int corner = 0; corner < 3; ++corner) out = std::copy(color.begin(), color.end(), out);
  }
  return out;
}

float* PlantTriangles::fill_uvs(const Part& part, float* out) const {
  if (part.item.is_tube || organ_of(part.item).mesh.uvs.empty())
    return std::fill_n(out, kUvFloats * (part.end - part.begin), 0.0F);
  const OrganMesh& mesh = organ_of(part.item).mesh;
  for (std::size_t t = part.begin; t < part.end; ++t)
    for (const std::uint32_t corner : mesh.triangles[t])
      out = std::copy(mesh.uvs[corner].begin(), mesh.uvs[corner].end(), out);
  return out;
}

std::uint32_t PlantTriangles::code_of(PlantField field, const Item& item) const {
  if (field == PlantField::kPlants) return item.plant;
  if (field == PlantField::kMaterials) return item.is_tube ? kNoIndex : organ_of(item).texture;
  return static_cast<std::uint32_t>(item.is_tube ? tube_of(item).organ : organ_of(item).organ);
}

void PlantTriangles::fill(PlantField field, std::uint64_t first, std::size_t count, void* out,
                          Box3d* bounds) const {
  auto* floats = static_cast<float*>(out);
  auto* codes = static_cast<std::uint32_t*>(out);
  switch (field) {
    case PlantField::kVertices:
      return fill_vertices(first, count, floats, bounds);
    case PlantField::kNormals:
      return fill_normals(first, count, floats);
    case PlantField::kColors:
      return each_part(first, count, [&](const Part& part) { floats = fill_colors(part, floats); });
    case PlantField::kUvs:
      return each_part(first, count, [&](const Part& part) { floats = fill_uvs(part, floats); });
    case PlantField::kIndices:
      return std::iota(codes, codes + 3 * count, static_cast<std::uint32_t>(3 * first));
    default:
      return each_part(first, count, [&](const Part& part) {
        codes = std::fill_n(codes, part.end - part.begin, code_of(field, part.item));
      });
  }
}

std::size_t PlantTriangles::read(PlantField field, std::uint64_t byte_offset, std::size_t bytes,
                                 void* out) const {
  const std::size_t stride = plant_field_bytes(field);
  const std::uint64_t total = stride * size_;
  if (byte_offset >= total) return 0;
  bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, total - byte_offset));
  alignas(float) std::array<std::byte, sizeof(float) * kCornerFloats> one{};
  auto* to = static_cast<std::byte*>(out);
  std::size_t left = bytes;
  std::uint64_t triangle = byte_offset / stride;
  const auto cut = [&](std::size_t skipped) {  // a part of one triangle
    fill(field, triangle++, 1, one.data());
    const std::size_t size = std::min(stride - skipped, left);
    std::memcpy(to, one.data() + skipped, size);
    to += size, left -= size;
  };
  if (byte_offset % stride != 0) cut(byte_offset % stride);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(to) % alignof(float) == 0;
  const std::size_t whole = is_aligned ? left / stride : 0;
  if (whole > 0) fill(field, triangle, whole, to);
  to += whole * stride, left -= whole * stride, triangle += whole;
  while (left > 0) cut(0);
  return bytes;
}

}  // namespace pc

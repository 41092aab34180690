#include "io/ply_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "io/ply_faces.h"
#include "io/record_table.h"

namespace pc::io {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 17;

/// Index of the element "face", or the number of elements.
std::size_t face_element(const PlyHeader& header) {
  std::size_t i = 0;
  while (i < header.elements.size() && !same_name(header.elements[i].name, "face")) ++i;
  return i;
}

/// Index of the list of vertices among the properties of the faces.
std::size_t vertex_list(const std::string& path, const PlyElement& face) {
  for (std::size_t i = 0; i < face.properties.size(); ++i) {
    const PlyProperty& property = face.properties[i];
    const bool named = same_name(property.name, "vertex_indices") || same_name(property.name, "vertex_index");
    if (named && property.is_list) return i;
  }
  throw Error(ErrorCode::kInvalidFile, path + ": the faces have no list vertex_indices or vertex_index");
}

const AnyColumn* column_named(const CloudTable& table, const char* name) {
  for (const NamedColumn& column : table.columns) {
    if (same_name(column.name, name)) return &column.values;
  }
  return nullptr;
}

/// Three columns as triples of float; empty if one is missing.
Column<float> triples(const std::array<const AnyColumn*, 3>& columns, OpContext& ctx) {
  if (columns[0] == nullptr || columns[1] == nullptr || columns[2] == nullptr) return {};
  Column<float> out(3 * columns[0]->size());
  for (std::size_t c = 0; c < 3; ++c) {
    visit_scalar(*columns[c], [&](auto values) {
      parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) out[3 * i + c] = static_cast<float>(values[i]);
      });
    });
  }
  return out;
}

Column<float> colors_of(const CloudTable& table, OpContext& ctx) {
  const auto& unit = table.unit_colors;
  if (unit.size() == 3) return triples({&unit[0], &unit[1], &unit[2]}, ctx);
  const AnyColumn* const rgb = column_named(table, "rgb");
  if (rgb == nullptr || rgb->dtype() != DType::kRgb16) return {};
  const Span<const Rgb16> values = rgb->as<Rgb16>();
  Column<float> out(3 * values.size);
  const double full = table.color_full;
  parallel_for(ctx, values.size, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint16_t channels[3] = {values[i].r, values[i].g, values[i].b};
      for (std::size_t c = 0; c < 3; ++c)
        out[3 * i + c] = static_cast<float>(std::min(1.0, channels[c] / full));
    }
  });
  return out;
}

/// Positions that float32 cannot hold, and normals that are not finite, become unusable.
void check_ranges(PolygonMesh& mesh, OpContext& ctx) {
  constexpr double kMost = std::numeric_limits<float>::max(), kNan = std::numeric_limits<double>::quiet_NaN();
  parallel_for(ctx, mesh.positions.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Vec3d& p = mesh.positions[i];
      const bool fits = std::fabs(p.x) <= kMost && std::fabs(p.y) <= kMost && std::fabs(p.z) <= kMost;
      if (!fits) p = {kNan, kNan, kNan};
    }
  });
  parallel_for(ctx, mesh.normals.size() / 3, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 3 * begin; i < 3 * end; i += 3) {
      const bool good = std::isfinite(mesh.normals[i]) && std::isfinite(mesh.normals[i + 1]) &&
                        std::isfinite(mesh.normals[i + 2]);
      for (std::size_t k = i; !good && k < i + 3; ++k) mesh.normals[k] = 0;
    }
  });
}

/// Names what the file has and a mesh does not use.
void warn_unused(const PlyHeader& header, std::size_t element, std::size_t list, PolygonMesh& mesh) {
  const auto named = [](const PlyElement& from, auto&& matches) {
    std::string names;
    for (const PlyProperty& property : from.properties) {
      if (matches(property) && names.size() < 200) names += (names.empty() ? "" : ", ") + property.name;
    }
    return names;
  };
  const PlyElement& face = header.elements[element];
  const std::string of_faces =
      named(face, [&](const PlyProperty& property) { return &property != &face.properties[list]; });
  if (!of_faces.empty()) mesh.warnings.push_back("these properties of faces are not used: " + of_faces);
  const std::string uvs = named(*header.vertex(), [](const PlyProperty& property) {
    for (const char* const name : {"s", "t", "u", "v", "texture_u", "texture_v"}) {
      if (same_name(property.name, name)) return true;
    }
    return false;
  });
  if (!uvs.empty()) mesh.warnings.push_back("texture coordinates of PLY files are not used: " + uvs);
}

/// Drops faces with fewer than three corners, checks the indices, and moves the rest to the mesh.
void take_faces(PlyFaces&& faces, PolygonMesh& mesh, OpContext& ctx) {
  const std::size_t vertices = mesh.positions.size();
  std::uint64_t few = 0, bad = 0, kept = 0;
  const std::size_t count = faces.firsts.empty() ? 0 : faces.firsts.size() - 1;
  mesh.face_first.push_back(0);
  for (std::size_t f = 0; f < count; ++f) {
    if (f % kGrain == 0) ctx.checkpoint();
    const std::uint64_t first = faces.firsts[f], end = faces.firsts[f + 1];
    if (end - first < 3) {
      ++few;
      continue;
    }
    bool wrong = false;
    for (std::uint64_t i = first; i < end; ++i) {
      const std::uint32_t index = faces.corners[i];
      wrong = wrong || index >= vertices;
      faces.corners[kept++] = index < vertices ? index : kNoIndex;
    }
    bad += wrong ? 1 : 0;
    mesh.face_first.push_back(kept);
  }
  faces.corners.resize(kept);
  mesh.corner_position = std::move(faces.corners);
  const auto say = [&](std::uint64_t number, const std::string& text) {
    if (number != 0) mesh.warnings.push_back(std::to_string(number) + text);
  };
  say(few, " face(s) have fewer than three corners and are left out");
  say(bad, " face(s) name a vertex that does not exist; their triangles with it are left out");
  say(faces.unread_count, " face(s) could not be read and are left out (first: line " +
                              std::to_string(faces.first_unread_line) + ")");
}

}  // namespace

std::uint64_t ply_face_count(const PlyHeader& header) {
  const std::size_t element = face_element(header);
  return element == header.elements.size() ? 0 : header.elements[element].count;
}

PolygonMesh read_ply_mesh(const std::string& path, const Vec3d& shift, OpContext& ctx) {
  const platform::File file = platform::File::open_read(path);
  const PlyHeader header = read_ply_header(file);
  if (header.line_count > kMaxMeshHeaderLines) {
    throw Error(ErrorCode::kInvalidFile, path + ": the PLY header has " + std::to_string(header.line_count) +
                                             " lines, more than " + std::to_string(kMaxMeshHeaderLines));
  }
  if (ply_face_count(header) == 0)
    throw Error(ErrorCode::kInvalidFile, path + ": the PLY header declares no faces");
  if (header.vertex_count() > kMaxMeshVertices) {
    throw Error(ErrorCode::kUnsupported, path + " has " + std::to_string(header.vertex_count()) +
                                             " vertices, more than " + std::to_string(kMaxMeshVertices));
  }
  const std::size_t element = face_element(header), list = vertex_list(path, header.elements[element]);
  CloudTable table = read_ply(path, {{1.0, shift}, 0, kAllRows, true}, ctx);
  PolygonMesh mesh;
  mesh.warnings = std::move(table.warnings);
  mesh.normals =
      triples({column_named(table, "nx"), column_named(table, "ny"), column_named(table, "nz")}, ctx);
  mesh.colors = colors_of(table, ctx);
  mesh.positions = std::move(table.positions);
  check_ranges(mesh, ctx);
  PlyFaces faces = read_ply_faces(file, header, element, list, ctx);
  const std::uint64_t present = faces.firsts.size() - 1 + faces.unread_count;
  if (present < header.elements[element].count) {
    mesh.warnings.push_back("the header declares " + std::to_string(header.elements[element].count) +
                            " faces, the file holds " + std::to_string(present) +
                            " complete ones: the rest is missing");
  }
  take_faces(std::move(faces), mesh, ctx);
  warn_unused(header, element, list, mesh);
  return mesh;
}

}  // namespace pc::io

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "io/ascii_head.h"
#include "io/ascii_lines.h"
#include "io/header_lines.h"
#include "io/obj.h"
#include "io/obj_chunk.h"

namespace pc::io {

namespace {

/// Elements of earlier chunks; the last entry holds the totals of the file.
struct Counts {
  std::uint64_t positions = 0, uvs = 0, normals = 0, corners = 0, faces = 0, lines = 0;
};

Counts after(Counts counts, const ObjChunk& chunk) {
  counts.positions += chunk.positions.size();
  counts.uvs += chunk.uvs.size() / 2;
  counts.normals += chunk.normals.size() / 3;
  counts.corners += chunk.corner_position.size();
  counts.faces += chunk.face_corners.size();
  counts.lines += chunk.lines;
  return counts;
}

template <class T>
void copy_to(const BulkVector<T>& from, T* to) {
  std::copy(from.begin(), from.end(), to);
}

class ObjJoin {
 public:
  ObjJoin(const std::string& path, std::vector<ObjChunk>& chunks) : path_(path), chunks_(chunks) {
    Counts counts;
    for (const ObjChunk& chunk : chunks) {
      before_.push_back(counts);
      counts = after(counts, chunk);
      has_colors_ = has_colors_ || !chunk.colors.empty();
    }
    before_.push_back(counts);
  }

  PolygonMesh join(OpContext& ctx) {
    const Counts& total = before_.back();
    for (const auto& [count, what] : {std::pair{total.positions, "vertices"},
                                      {total.uvs, "texture coordinates"},
                                      {total.normals, "normals"}}) {
      if (count > kMaxMeshVertices) {
        throw Error(ErrorCode::kUnsupported, path_ + " has " + std::to_string(count) + " " + what +
                                                 ", more than " + std::to_string(kMaxMeshVertices));
      }
    }
    join_materials();
    mesh_.positions = Column<Vec3d>(total.positions);
    mesh_.uvs = Column<float>(2 * total.uvs);
    mesh_.normals = Column<float>(3 * total.normals);
    if (has_colors_) mesh_.colors = Column<float>(3 * total.positions);
    mesh_.corner_position.resize(total.corners);
    if (total.uvs != 0) mesh_.corner_uv.resize(total.corners);
    if (total.normals != 0) mesh_.corner_normal.resize(total.corners);
    mesh_.face_first.resize(total.faces + 1);
    ctx.begin_phase("Joining faces", chunks_.size());
    parallel_for(ctx, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) join_chunk(i);
    });
    if (has_colors_) scale_colors(ctx);
    warn();
    return std::move(mesh_);
  }

 private:
  void join_materials() {
    std::unordered_map<std::string, std::uint32_t> known;
    const std::uint64_t faces = before_.back().faces;
    bool any = false;
    for (const ObjChunk& chunk : chunks_) any = any || !chunk.switches.empty();
    if (any) mesh_.face_material.resize(faces);
    std::string name;
    std::size_t face = 0;
    const auto fill_to = [&](std::size_t end) {
      if (face == end) return;
      std::uint32_t material = kNoIndex;
      if (!name.empty()) {
        material = known.try_emplace(name, static_cast<std::uint32_t>(known.size())).first->second;
        if (material == mesh_.material_names.size()) mesh_.material_names.push_back(name);
        if (known.size() > kMaxMeshMaterials) {
          throw Error(ErrorCode::kUnsupported,
                      path_ + " uses more than " + std::to_string(kMaxMeshMaterials) + " materials");
        }
      }
      if (any) std::fill(mesh_.face_material.begin() + face, mesh_.face_material.begin() + end, material);
      face = end;
    };
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      for (ObjChunk::MaterialSwitch& change : chunks_[i].switches) {
        fill_to(before_[i].faces + change.face);
        name = std::move(change.name);
      }
      for (std::string& library : chunks_[i].libraries) {
        if (mesh_.libraries.size() == kMaxMaterialLibraries) {
          throw Error(
              ErrorCode::kUnsupported,
              path_ + " names more than " + std::to_string(kMaxMaterialLibraries) + " material libraries");
        }
        mesh_.libraries.push_back(std::move(library));
      }
    }
    fill_to(faces);
  }

  void join_chunk(std::size_t index) {
    ObjChunk& chunk = chunks_[index];
    const Counts& base = before_[index];
    const Counts& total = before_.back();
    copy_to(chunk.positions, mesh_.positions.view().data + base.positions);
    copy_to(chunk.uvs, mesh_.uvs.view().data + 2 * base.uvs);
    copy_to(chunk.normals, mesh_.normals.view().data + 3 * base.normals);
    if (has_colors_) {
      float* const to = mesh_.colors.view().data + 3 * base.positions;
      copy_to(chunk.colors, to);
      std::fill(to + chunk.colors.size(), to + 3 * chunk.positions.size(),
                std::numeric_limits<float>::quiet_NaN());
    }
    std::size_t at = 0;
    for (std::size_t f = 0; f < chunk.face_corners.size(); ++f) {
      mesh_.face_first[base.faces + f] = base.corners + at;
      bool bad = false, absent = false;
      for (const std::size_t end = at + chunk.face_corners[f]; at != end; ++at) {
        const std::size_t to = base.corners + at;
        const auto place = [&](BulkVector<std::uint32_t>& corners, std::uint32_t coded, std::uint64_t before,
                               std::uint64_t count) {
          const std::uint32_t found = obj_index::resolve(coded, before, count);
          if (!corners.empty()) corners[to] = found;
          return found != kNoIndex || coded == kNoIndex;
        };
        place(mesh_.corner_position, chunk.corner_position[at], base.positions, total.positions);
        bad = bad || mesh_.corner_position[to] == kNoIndex;
        absent = !place(mesh_.corner_uv, chunk.corner_uv[at], base.uvs, total.uvs) || absent;
        absent = !place(mesh_.corner_normal, chunk.corner_normal[at], base.normals, total.normals) || absent;
      }
      if (bad) chunk.faults.add(ObjFault::kBadFace, chunk.face_lines[f]);
      if (absent) chunk.faults.add(ObjFault::kAbsent, chunk.face_lines[f]);
    }
    if (index + 1 == chunks_.size()) mesh_.face_first[total.faces] = total.corners;
    chunk.positions.reset();
    for (auto* values : {&chunk.colors, &chunk.uvs, &chunk.normals}) values->reset();
    for (auto* values : {&chunk.corner_position, &chunk.corner_uv, &chunk.corner_normal, &chunk.face_corners,
                         &chunk.face_lines}) {
      values->reset();
    }
  }

  /// Colours 0..255 become 0..1; a colour with a channel outside of the range becomes NaN.
  void scale_colors(OpContext& ctx) {
    float* const colors = mesh_.colors.view().data;
    const std::size_t count = mesh_.positions.size();
    std::atomic<bool> bytes{false};
    constexpr std::size_t kGrain = std::size_t{1} << 18;
    parallel_for(ctx, 3 * count, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (colors[i] > 1 && colors[i] <= 255) bytes = true;
      }
    });
    const float full = bytes ? 255.0f : 1.0f;
    std::atomic<std::uint64_t> wrong{0};
    parallel_for(ctx, count, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = 3 * begin; i < 3 * end; i += 3) {
        const bool none = std::isnan(colors[i]) && std::isnan(colors[i + 1]) && std::isnan(colors[i + 2]);
        bool good = true;
        for (std::size_t k = i; k < i + 3; ++k) good = good && colors[k] >= 0 && colors[k] <= full;
        for (std::size_t k = i; k < i + 3; ++k) {
          colors[k] = good ? colors[k] / full : std::numeric_limits<float>::quiet_NaN();
        }
        if (!good && !none) ++wrong;
      }
    });
    if (bytes) mesh_.warnings.push_back("the vertex colours were taken as 0..255");
    if (wrong != 0) {
      mesh_.warnings.push_back(std::to_string(wrong) +
                               " vertices have a colour outside of 0..1 or 0..255, which is ignored");
    }
  }

  void warn() {
    static constexpr std::pair<ObjFault, const char*> kTexts[] = {
        {ObjFault::kVertex, " vertex line(s) could not be read; faces with these vertices are left out"},
        {ObjFault::kUv, " texture coordinate(s) could not be read and are taken as 0, 0"},
        {ObjFault::kNormal, " normal(s) could not be read and are taken as missing"},
        {ObjFault::kShortFace, " face(s) have fewer than three corners and are left out"},
        {ObjFault::kBadFace,
         " face(s) name a vertex that does not exist; their triangles with it are left out"},
        {ObjFault::kAbsent,
         " face(s) name a texture coordinate or normal that does not exist; it is taken as missing"},
        {ObjFault::kElement, " line or point element(s) are left out"},
        {ObjFault::kUnknown, " line(s) with statements that are not read"}};
    for (const auto& [fault, text] : kTexts) {
      std::uint64_t count = 0, line = 0;
      std::string keyword;
      for (std::size_t i = 0; i < chunks_.size(); ++i) {
        const ObjFaults::Fault& own = chunks_[i].faults[fault];
        if (count == 0 && own.count != 0) {
          line = before_[i].lines + own.line + 1;
          keyword = own.text;
        }
        count += own.count;
      }
      if (count == 0) continue;
      mesh_.warnings.push_back(std::to_string(count) + text + " (first: line " + std::to_string(line) +
                               (keyword.empty() ? "" : ", " + keyword) + ")");
    }
  }

  const std::string& path_;
  std::vector<ObjChunk>& chunks_;
  std::vector<Counts> before_;
  bool has_colors_ = false;
  PolygonMesh mesh_;
};

}  // namespace

PolygonMesh read_obj(const std::string& path, const Vec3d& shift, std::size_t chunk_bytes, OpContext& ctx) {
  require(chunk_bytes >= 1, "chunk_bytes must be at least 1");
  const auto file = platform::File::open_read(path);
  std::uint64_t start = 0;
  bool cr_lines = false;
  {
    const TextHead head = read_text_head(file, ctx);
    start = head.start;
    cr_lines = head.cr_lines;
  }
  const LineSource source(file, start, cr_lines);
  const auto bytes = static_cast<std::size_t>(source.data_bytes());
  std::vector<ObjChunk> chunks((bytes + chunk_bytes - 1) / chunk_bytes);
  std::vector<BulkVector<char>> texts(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Reading mesh", bytes);
  parallel_for_worker(ctx, bytes, chunk_bytes, [&](std::size_t begin, std::size_t end, int worker) {
    const Span<const char> lines =
        load_obj_lines(source, begin, end, texts[static_cast<std::size_t>(worker)]);
    if (!lines.empty()) chunks[begin / chunk_bytes] = parse_obj_lines(lines, shift, path, ctx);
  });
  return ObjJoin(path, chunks).join(ctx);
}

PolygonMesh read_obj(const std::string& path, const Vec3d& shift, OpContext& ctx) {
  return read_obj(path, shift, kObjChunkBytes, ctx);
}

}  // namespace pc::io

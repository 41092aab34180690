#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "core/polygon_mesh.h"

namespace pc::io {

/// Largest material library.
inline constexpr std::uint64_t kMaxMtlBytes = std::uint64_t{16} << 20;

struct MtlMaterial {
  std::string name;
  std::optional<std::array<double, 3>> color;  ///< Kd, 0..1
  std::string texture;     ///< map_Kd: the rest of the line after its options, as written; may contain blanks
  std::string last_token;  ///< its last word, for lines whose options are not known
};

struct MtlFile {
  std::vector<MtlMaterial> materials;  ///< in file order
  std::vector<std::string> warnings;
};

/// Reads newmtl, Kd and map_Kd of a Wavefront material library; other statements have no meaning here.
///
/// Errors  kNotFound; kInvalidFile beyond kMaxMtlBytes, for NUL bytes; kUnsupported beyond
///         kMaxMeshMaterials and kMaxMaterialNameBytes.
/// Source  Wavefront Technologies, Advanced Visualizer Manual, appendix B5 (material libraries).
MtlFile read_mtl(const std::string& path, OpContext& ctx);

}  // namespace pc::io

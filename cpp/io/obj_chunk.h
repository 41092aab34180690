#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/polygon_mesh.h"
#include "io/ascii_lines.h"

namespace pc::io {

/// What can be wrong with a line or a face of an OBJ file.
enum class ObjFault : std::uint8_t {
  kVertex,
  kUv,
  kNormal,
  kShortFace,
  kBadFace,
  kAbsent,
  kElement,
  kUnknown,
  kCount
};

/// How often a fault occurs in a chunk, and on which of its lines first (0-based).
struct ObjFaults {
  struct Fault {
    std::uint64_t count = 0, line = 0;
    std::string text;  ///< kUnknown: the first keyword
  };
  std::array<Fault, static_cast<std::size_t>(ObjFault::kCount)> all;

  Fault& operator[](ObjFault fault) { return all[static_cast<std::size_t>(fault)]; }
  const Fault& operator[](ObjFault fault) const { return all[static_cast<std::size_t>(fault)]; }
  void add(ObjFault fault, std::uint64_t line) {
    if ((*this)[fault].count++ == 0) (*this)[fault].line = line;
  }
};

/// Index of a corner as its line has it, before the numbers of elements in earlier chunks are known: kNoIndex, an index
/// from 0 below 2^30, or one relative to the first element of the chunk, from -2^29 to 2^29 - 1.
namespace obj_index {
inline constexpr std::uint32_t kTag = 0x80000000U;
inline constexpr std::int64_t kHalf = std::int64_t{1} << 29;
inline std::uint32_t absolute(std::int64_t index) {
  return index >= 0 && index < 2 * kHalf ? static_cast<std::uint32_t>(index) : kNoIndex;
}
inline std::uint32_t relative(std::int64_t index) {
  return index >= -kHalf && index < kHalf ? kTag | static_cast<std::uint32_t>(index + kHalf) : kNoIndex;
}
/// The index in the file, or kNoIndex; `before`: elements of earlier chunks, `total`: of the file.
inline std::uint32_t resolve(std::uint32_t index, std::uint64_t before, std::uint64_t total) {
  if (index == kNoIndex) return kNoIndex;
  std::int64_t at = index;
  if (index & kTag) at = static_cast<std::int64_t>(before) + static_cast<std::int64_t>(index & ~kTag) - kHalf;
  return at >= 0 && at < static_cast<std::int64_t>(total) ? static_cast<std::uint32_t>(at) : kNoIndex;
}
}  // namespace obj_index

/// The elements of one chunk of an OBJ file.
struct ObjChunk {
  struct MaterialSwitch {
    std::size_t face;  ///< first face of the chunk with this material
    std::string name;  ///< "" = no material
  };
  BulkVector<Vec3d> positions;
  BulkVector<float> colors, uvs, normals;  ///< colors: of the first positions; the rest has none
  BulkVector<std::uint32_t> corner_position, corner_uv, corner_normal;  ///< as obj_index
  BulkVector<std::uint32_t> face_corners, face_lines;
  std::vector<MaterialSwitch> switches;
  std::vector<std::string> libraries;
  std::uint64_t lines = 0;
  ObjFaults faults;
};

/// The lines that start in bytes [begin, end) of the data, with continued ones joined; empty if no line does. The last
/// byte is '\n', and kTextPadding readable bytes follow; a '\v' stands for a joined line end. Valid until `buffer`
/// changes. Errors: kInvalidFile for a line beyond 16 MiB, kIo.
Span<char> load_obj_lines(const LineSource& source, std::uint64_t begin, std::uint64_t end,
                          BulkVector<char>& buffer);

/// Parses such lines. Errors: kUnsupported for a face beyond kMaxFaceCorners.
ObjChunk parse_obj_lines(Span<const char> lines, const Vec3d& shift, const std::string& path, OpContext& ctx);

}  // namespace pc::io

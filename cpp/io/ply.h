#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "core/platform.h"
#include "io/cloud_table.h"

namespace pc::io {

enum class PlyFormat : std::uint8_t { kAscii, kBinaryLittleEndian, kBinaryBigEndian };

struct PlyProperty {
  std::string name;
  DType type;  ///< of the value, or of the list's values
  bool is_list = false;
  DType count_type = DType::kU8;  ///< of a list's count
};

struct PlyElement {
  std::string name;
  std::uint64_t count = 0;  ///< as declared; not checked against the file
  std::vector<PlyProperty> properties;
};

/// The contents of a PLY header.
struct PlyHeader {
  PlyFormat format = PlyFormat::kAscii;
  std::vector<PlyElement> elements;
  std::vector<std::string> comments;  ///< "comment" and "obj_info" lines, without that word
  std::uint64_t body_offset = 0;      ///< first byte after the header
  std::uint64_t line_count = 0;       ///< lines of the header
  char line_end = '\n';               ///< '\r' in files with CR line ends

  /// The vertex element, or nullptr.
  const PlyElement* vertex() const;
  std::uint64_t vertex_count() const { return vertex() == nullptr ? 0 : vertex()->count; }
};

inline constexpr std::uint64_t kAllRows = std::numeric_limits<std::uint64_t>::max();

struct PlyReadParams {
  PositionFrame frame;
  std::uint64_t first_row;  ///< first vertex to read, 0-based
  std::uint64_t row_count;  ///< number of vertices to read; kAllRows = to the end
  bool keep_invalid =
      false;  ///< rows without a finite position stay (as NaN), so that the indices of faces hold
};

/// Reads the header only.
///
/// Errors  kNotFound; kInvalidFile with the wrong header line (no "ply", no end_header within 4 MiB, unknown keyword or
///         type, negative count, property before any element, more than 4,096 vertex properties).
/// Source  Turk, "The PLY polygon file format" (1994); the sized type names (int8 ... float64) as commonly written.
PlyHeader read_ply_header(const std::string& path);
PlyHeader read_ply_header(const platform::File& file);

/// The first `max_rows` vertices as raw values, one per scalar property (lists are skipped; ASCII lines that are too
/// short give fewer). Empty if lists of other elements, or 16 MiB of text, precede the vertices.
///
/// Cost    The head of the file, whatever its size.
/// Errors  As read_ply; a body that ends early gives the rows that are present.
std::vector<std::vector<std::string>> read_ply_sample_rows(const std::string& path, const PlyHeader& header,
                                                           std::size_t max_rows, OpContext& ctx);

/// Reads the vertices of an ASCII or binary PLY file; other elements before and after are skipped.
///
/// Returns  Positions from x, y, z of any numeric type (ASCII: the text as float64, also for "float"). Every other
///          scalar property becomes a column of its own type and name, in file order; a complete colour triple becomes
///          one kRgb16 column "rgb" (merge_rgb). `extra` is false for colour channels, alpha and intensity names. Rows
///          with a NaN or infinite coordinate and ASCII rows that cannot be read are dropped and counted. A body that
///          ends early gives the complete rows and a warning; so do list properties of vertices.
/// Order    File order; does not depend on threads.
/// Cost     O(file); memory: the result, plus 1 MiB per thread (colour triples once more while they are merged).
/// Cancel   Within 250 ms; no partial result.
/// Errors   As read_ply_header; kInvalidFile if there is no vertex element, no x, y or z, rows are declared but none is
///          complete, none can be read, or a list count is negative.
CloudTable read_ply(const std::string& path, const PlyReadParams& params, OpContext& ctx);

}  // namespace pc::io

#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "core/platform.h"
#include "io/cloud_table.h"
#include "io/ply.h"

namespace pc::io {

enum class PcdData : std::uint8_t { kAscii, kBinary, kBinaryCompressed };

struct PcdField {
  std::string name;
  DType type;
  std::uint32_t count = 1;  ///< values per point
  bool padding() const { return name == "_"; }
};

/// The contents of a PCD header.
struct PcdHeader {
  std::string version;
  std::vector<PcdField> fields;
  std::uint64_t width = 0, height = 1;
  std::uint64_t points = 0;  ///< as declared; not checked against the file
  PcdData data = PcdData::kAscii;
  bool has_viewpoint = false;
  Vec3d viewpoint{0, 0, 0};                       ///< sensor position, file frame
  std::array<double, 4> orientation{1, 0, 0, 0};  ///< sensor attitude, quaternion w x y z
  std::uint64_t body_offset = 0;                  ///< first byte after the DATA line
  std::uint64_t line_count = 0;                   ///< lines of the header
  char line_end = '\n';
  std::vector<std::string> warnings;  ///< odd but readable
};

struct PcdReadParams {
  PositionFrame frame;
  std::uint64_t first_row;  ///< first point to read, 0-based
  std::uint64_t row_count;  ///< number of points to read; kAllRows = to the end
};

struct PcdCloud {
  CloudTable table;
  bool has_viewpoint = false;                     ///< the file has a VIEWPOINT line
  bool default_viewpoint = false;                 ///< it is 0 0 0 1 0 0 0, the default of writers
  Vec3d scan_origin{0, 0, 0};                     ///< its translation, stored frame, metres
  std::array<double, 4> orientation{1, 0, 0, 0};  ///< its quaternion, w x y z
};

/// Reads the header only.
///
/// Errors  kNotFound; kInvalidFile with the wrong header line (unknown keyword, FIELDS, SIZE, TYPE and COUNT of
///         different lengths, unknown type, no point count, more than 4,096 values per point); kUnsupported for
///         versions other than .5, .6 and .7.
/// Source  "The PCD (Point Cloud Data) file format", Point Cloud Library documentation.
PcdHeader read_pcd_header(const std::string& path);
PcdHeader read_pcd_header(const platform::File& file);

/// A column of a point as the import shows it.
struct PcdColumn {
  std::string
      name;  ///< of the field; name[0], name[1], ... where COUNT > 1; red, green, blue (alpha) of packed colour
  DType type;
};
/// The first points, as text.
struct PcdSample {
  std::vector<PcdColumn> columns;  ///< without padding
  std::vector<std::vector<std::string>>
      rows;  ///< one value per column; fewer for ascii lines that are too short
};
/// A compressed body stores all values of a field together, so that even the first point needs the whole body. Larger
/// bodies than this are not sampled.
inline constexpr std::uint64_t kPcdMaxSampleBody = std::uint64_t{64} << 20;

/// Reads the first `max_rows` points as stored, including those without finite coordinates.
///
/// header  of the same file.
/// Cost    The head of the file; the whole body if it is compressed, up to kPcdMaxSampleBody bytes.
/// Cancel  Within 250 ms.
/// Errors  As read_pcd for compressed bodies; kUnsupported for larger ones. Other bodies that end early give the rows
///         that are present.
PcdSample read_pcd_sample(const std::string& path, const PcdHeader& header, std::size_t max_rows,
                          OpContext& ctx);

/// Reads an ascii, binary or binary_compressed PCD file.
///
/// Returns  Positions from x, y, z of any numeric type (ascii: the text as float64). A 4-byte "rgb" or "rgba" field is
///          packed colour 0xAARRGGBB for any type and becomes the kRgb16 column "rgb" (8 bits x 256), the alpha of
///          "rgba" the kU8 column "alpha"; separate r, g, b fields as in merge_rgb. Other fields keep type and name;
///          COUNT > 1 gives name[0], name[1], ... Padding ("_") is skipped. Points with a NaN or infinite coordinate
///          are dropped and counted. An ascii or binary body that ends early gives the complete points and a warning.
/// Order    File order; does not depend on threads.
/// Cost     O(file); memory: the result, plus 1 MiB per thread; compressed bodies once compressed and once decoded.
/// Cancel   Within 250 ms; no partial result.
/// Errors   As read_pcd_header; kInvalidFile if x, y or z is missing, points are declared but none is present or none
///          can be read, or the compressed body is cut off or does not decode to the declared size.
PcdCloud read_pcd(const std::string& path, const PcdReadParams& params, OpContext& ctx);

}  // namespace pc::io
